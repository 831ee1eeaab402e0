const fs = require('node:fs');
const path = require('node:path');
const { createRequire } = require('node:module');
const require2 = createRequire(process.env.MODULES + '/');
const polka = require2('polka');
const ejs = require2('ejs');

const board = ejs.compile(fs.readFileSync(path.join(__dirname, 'board.ejs'), 'utf8'));
const towns = ['Ulm', 'Bern & Thun', 'Basel', 'Chur', 'Zug', 'Olten'];
const departures = [];
for (let i = 0; i < Number(process.env.ROWS); i++) {
  departures.push({ time: `${i % 24}:${i % 60}`, line: 'R' + i % 17, to: towns[i % 6], platform: i % 12 });
}

polka()
  .get('/', (req, res) => res.end('ok'))
  .get('/board/:station', (req, res) => {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end(board({ station: req.params.station, departures }));
  })
  .listen(process.env.PORT, '127.0.0.1', () => console.log('listening on', process.env.PORT));
