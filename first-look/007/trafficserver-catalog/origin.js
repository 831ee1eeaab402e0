// the catalogue behind the proxy
const http = require('http');
const items = Array.from({ length: 300 }, (_, i) => ({ id: i, name: `article ${i}`, price: (i * 0.37).toFixed(2) }));
http.createServer((req, res) => {
  const n = Number(req.url.split('/').pop()) || 0;
  const big = req.url.startsWith('/list/');
  const body = JSON.stringify(big ? items.filter((x) => x.id % 3 === n % 3) : items[n % 300]);
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'Cache-Control': req.url.startsWith('/item/') ? 'no-store' : 'max-age=3600' });
  res.end(body);
}).listen(Number(process.argv[2]), '127.0.0.1');
