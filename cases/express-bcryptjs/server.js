// A page, and a login that checks a password: server.js PORT MODE ("sync" or "threads")
const express = require('express');
const crypto = require('crypto');
const bcrypt = require('bcryptjs');

const [port, mode] = process.argv.slice(2);
const hash = bcrypt.hashSync('secret', 8);
const app = express();
app.get('/', (request, response) => response.send('ok\n'));
app.get('/login', (request, response) => {
  if (mode === 'sync') {
    response.send(`${bcrypt.compareSync('secret', hash)}\n`);
  } else {
    // The same time, on a thread of the pool.
    crypto.pbkdf2('secret', 'salt', 60000, 32, 'sha256', (error, key) => response.send(`${!!key}\n`));
  }
});
app.listen(Number(port), '127.0.0.1');
