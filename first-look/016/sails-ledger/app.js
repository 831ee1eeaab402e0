// Club cash office: a Sails application. Bookings go into a cash book on a shared
// directory (other offices read it), so a writer takes its lock with proper-lockfile.
const fs = require('fs');
const path = require('path');
const crypto = require('crypto');
const sails = require('sails');
const lockfile = require('proper-lockfile');

const BOOKS = process.env.BOOKS;
const DAY = path.join(BOOKS, 'day.json');
const JOURNAL = path.join(BOOKS, 'journal.ndjson');
const LOCK = {
  stale: 10000,
  retries: {
    retries: 120,
    minTimeout: Number(process.env.LOCK_MIN_TIMEOUT || 60),
    maxTimeout: Number(process.env.LOCK_MAX_TIMEOUT || 400),
    factor: Number(process.env.LOCK_FACTOR || 1.5),
  },
};
const trace = process.env.LEDGER_TRACE ? fs.createWriteStream(process.env.LEDGER_TRACE) : null;

const members = new Map();
for (let i = 1; i <= 400; i++) {
  members.set(String(i), { id: i, name: 'member ' + i, card: crypto.createHash('md5').update('m' + i).digest('hex') });
}

async function post(req, res) {
  const entry = { at: Date.now(), member: req.params.id, cents: Number(req.body && req.body.cents) || 0 };
  const t0 = process.hrtime.bigint();
  const release = await lockfile.lock(DAY, LOCK);
  const t1 = process.hrtime.bigint();
  let book;
  try {
    book = JSON.parse(await fs.promises.readFile(DAY, 'utf8'));
    book.no += 1;
    book.total += entry.cents;
    book.last.push(entry);
    if (book.last.length > 40) book.last.shift();
    entry.no = book.no;
    await fs.promises.appendFile(JOURNAL, JSON.stringify(entry) + '\n');
    await fs.promises.writeFile(DAY + '.new', JSON.stringify(book));
    await fs.promises.rename(DAY + '.new', DAY);
  } finally {
    await release();
  }
  if (trace) trace.write(`${Number(t1 - t0) / 1e6} ${Number(process.hrtime.bigint() - t1) / 1e6}\n`);
  return res.json({ no: entry.no, total: book.total });
}

function member(req, res) {
  const m = members.get(req.params.id);
  if (!m) return res.status(404).json({ error: 'no such member' });
  return res.json(m);
}

fs.writeFileSync(DAY, JSON.stringify({ no: 0, total: 0, last: [] }));

sails.lift({
  appPath: __dirname,
  port: Number(process.env.PORT),
  explicitHost: '127.0.0.1',
  environment: 'production',
  hooks: { grunt: false, session: false, views: false, i18n: false, pubsub: false, csrf: false, cors: false },
  log: { level: 'warn' },
  globals: { _: false, async: false, models: false, sails: false },
  routes: {
    'GET /health': (req, res) => res.json({ ok: true }),
    'GET /members/:id': member,
    'POST /members/:id/payments': post,
  },
}, (err) => {
  if (err) { console.error(err); process.exit(1); }
  sails.hooks.http.server.keepAliveTimeout = 65000; // the load balancer keeps its connections for a minute
});
process.on('SIGTERM', () => { setTimeout(() => process.exit(0), 300); sails.lower(() => process.exit(0)); });
