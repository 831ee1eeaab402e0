// the exchange-rate provider
const http = require('http');
http.createServer((req, res) => {
  setTimeout(() => { res.setHeader('Content-Type', 'text/plain'); res.end('0.9142\n'); }, 140);
}).listen(Number(process.argv[2]), '127.0.0.1');
