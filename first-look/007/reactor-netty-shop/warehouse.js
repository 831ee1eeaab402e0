// the warehouse service: it turns some calls away when it is over its capacity, and asks the planning system for a forecast
const http = require('http');
const busy = Number(process.env.BUSY_SHARE || 0);
http.createServer((req, res) => {
  const send = (code, body) => { res.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }); res.end(body); };
  if (Math.random() < busy) return send(503, '{"error":"over capacity"}');
  if (req.url.startsWith('/forecast/')) return setTimeout(() => send(200, JSON.stringify({ weeks: [12, 14, 9, 21] })), 220);
  send(200, JSON.stringify({ sku: req.url.split('/').pop(), pieces: 17 }));
}).listen(Number(process.argv[2]), '127.0.0.1');
