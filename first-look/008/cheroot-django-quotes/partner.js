// a partner's service: GET /anything?ms=.. answers after that many milliseconds
const http = require('http');
let n = 0;
http.createServer((req, res) => {
  const u = new URL(req.url, 'http://x');
  const every = Number(u.searchParams.get('busy_every') || 0);
  const body = JSON.stringify({ rate: 1.0 + (n % 7) / 100, currency: 'EUR' });
  n++;
  if (every && n % every === 0) { res.writeHead(503, { 'content-type': 'text/plain' }); return res.end('busy'); }
  const send = () => { res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }); res.end(body); };
  const ms = Number(u.searchParams.get('ms') || 0);
  if (ms) setTimeout(send, ms); else send();
}).listen(Number(process.argv[2]), '127.0.0.1');
