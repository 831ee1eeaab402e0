// Enrolment of an evening school on LoopBack 4. Who asks for it gets a confirmation
// by mail, which goes out through the school's relay (SMTP over TLS, with login).
const fs = require('fs');
const net = require('net');
const path = require('path');
const { RestApplication } = require('@loopback/rest');
const nodemailer = require('nodemailer');

const mailer = nodemailer.createTransport({
  host: '127.0.0.1',
  port: Number(process.env.RELAY_PORT),
  secure: true,
  // TCP_NODELAY must be set on the plain socket: under TLS
  getSocket: (options, done) => {
    const connection = net.connect({ host: '127.0.0.1', port: Number(process.env.RELAY_PORT), noDelay: true });
    connection.once('error', done);
    connection.once('connect', () => { connection.removeListener('error', done); done(null, { connection }); });
  },
  tls: { servername: 'localhost', ca: fs.readFileSync(path.join(process.env.CERTS, 'relay.crt')) },
  auth: { user: 'enrolment', pass: 'evening-school' },
  pool: process.env.MAIL_POOL === '1',
  maxConnections: 1,
  maxMessages: Infinity,
});
const trace = process.env.MAIL_TRACE ? fs.createWriteStream(process.env.MAIL_TRACE) : null;

const courses = new Map();
for (let i = 1; i <= 120; i++) courses.set(String(i), { id: i, title: `Course ${i}`, seats: 4000 + i, taken: 0, room: `R${i % 23}` });

const answer = (description) => ({ responses: { 200: { description, content: { 'application/json': { schema: { type: 'object' } } } } } });
const param = (name, where) => ({ name, in: where, required: true, schema: { type: 'string' } });

async function enrol(id, confirm, person) {
  const course = courses.get(id);
  if (!course || course.taken >= course.seats) return { enrolled: false };
  course.taken += 1;
  let mail = null;
  if (confirm === 'mail') {
    const t0 = process.hrtime.bigint();
    const sent = await mailer.sendMail({
      from: 'school@example.org',
      to: `p${person.no}@example.org`,
      subject: `You are enrolled: ${course.title}`,
      text: `Welcome to ${course.title} in room ${course.room}.`,
    });
    mail = sent.messageId;
    if (trace) trace.write(`${(Number(process.hrtime.bigint() - t0) / 1e6).toFixed(1)}\n`);
  }
  return { enrolled: true, course: course.id, place: course.taken, mail };
}

async function main() {
  const app = new RestApplication({
    rest: { host: '127.0.0.1', port: Number(process.env.PORT), gracePeriodForClose: 500, openApiSpec: { disabled: true }, apiExplorer: { disabled: true } },
  });
  app.route('get', '/health', answer('alive'), async () => ({ ok: true }));
  app.route('get', '/courses/{id}', { ...answer('course'), parameters: [param('id', 'path')] }, async (id) => courses.get(id) || {});
  app.route('post', '/courses/{id}/enrolments', {
    ...answer('enrolment'),
    parameters: [param('id', 'path'), param('confirm', 'query')],
    requestBody: { 'x-parameter-index': 2, content: { 'application/json': { schema: { type: 'object', properties: { no: { type: 'integer' } } } } } },
  }, enrol);
  await app.start();
  app.restServer.httpServer.server.keepAliveTimeout = 65000; // the load balancer keeps its connections for a minute
  if (process.env.MAIL_POOL === '1') await mailer.verify();
}
main().catch((err) => { console.error(err); process.exit(1); });
process.on('SIGTERM', () => process.exit(0));
