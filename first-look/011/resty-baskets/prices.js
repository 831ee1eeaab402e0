// The price service of the neighbouring team: its database is some 2 ms away, one query for all articles asked for.
// With a third argument it is short of capacity and turns away one of so many calls.
const http = require('http');
const turnAway = Number(process.argv[3] || 0);
let calls = 0;
http.createServer((req, res) => {
  const ids = (req.url.split('/').pop() || '').split(',').map(Number);
  if (turnAway > 0 && ++calls % turnAway === 0) {
    res.writeHead(503, { 'Content-Length': 0 });
    res.end();
    return;
  }
  setTimeout(() => {
    const body = JSON.stringify(ids.map((a) => ({ article: a, name: 'Article ' + a, price: ((a * 37) % 9000) / 100 + 1 })));
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    res.end(body);
  }, 2);
}).listen(Number(process.argv[2]), '127.0.0.1');
