const http = require('node:http');
http.createServer((req, res) => {
  setTimeout(() => {
    const body = JSON.stringify({ invoice: req.url, lines: [1, 2, 3] });
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    res.end(body);
  }, 280);
}).listen(process.argv[2], '127.0.0.1');
