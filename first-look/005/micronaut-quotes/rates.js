// the bank's rate service, as slow as it is
const http = require('node:http');
http.createServer((req, res) => {
  if (!req.url.startsWith('/rate')) return res.end('ok');
  setTimeout(() => res.end('0.9431'), 90 + Math.random() * 80);
}).listen(Number(process.argv[2]), '127.0.0.1');
