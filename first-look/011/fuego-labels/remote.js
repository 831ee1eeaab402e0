// The head office (hands out ranges of numbers) or the customs office (declares): answers after the given time.
const http = require('http');
const [port, ms] = process.argv.slice(2).map(Number);
let next = 1000000;
http.createServer((req, res) => {
  setTimeout(() => {
    const url = new URL(req.url, 'http://office');
    let body = 'declared ' + url.searchParams.get('parcel');
    if (url.pathname === '/range') {
      body = String(next);
      next += Number(url.searchParams.get('size'));
    }
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length });
    res.end(body);
  }, ms);
}).listen(port, '127.0.0.1').keepAliveTimeout = 120000;
