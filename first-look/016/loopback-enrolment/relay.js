// The mail relay: SMTP over TLS with login; passwords are kept as scrypt hashes.
const fs = require('fs');
const path = require('path');
const crypto = require('crypto');
const { SMTPServer } = require('smtp-server');

const salt = Buffer.from('relay-salt');
const users = new Map([['enrolment', crypto.scryptSync('evening-school', salt, 32)]]);
const count = { connections: 0, logins: 0, messages: 0 };

const server = new SMTPServer({
  secure: true,
  key: fs.readFileSync(path.join(process.env.CERTS, 'relay.key')),
  cert: fs.readFileSync(path.join(process.env.CERTS, 'relay.crt')),
  disableReverseLookup: true,
  socketTimeout: 300000,
  onConnect(session, done) { count.connections += 1; done(); },
  onAuth(auth, session, done) {
    count.logins += 1;
    crypto.scrypt(auth.password, salt, 32, (err, hash) => {
      const known = users.get(auth.username);
      if (err || !known || !crypto.timingSafeEqual(known, hash)) return done(new Error('Invalid login'));
      return done(null, { user: auth.username });
    });
  },
  onData(stream, session, done) {
    count.messages += 1;
    stream.on('end', () => done(null, 'queued'));
    stream.resume();
  },
});
server.server.on('connection', (socket) => socket.setNoDelay(true));
server.on('error', () => {});
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => { console.log(JSON.stringify(count)); process.exit(0); });
