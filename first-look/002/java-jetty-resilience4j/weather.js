const http = require('node:http');
http.createServer((req, res) => {
  setTimeout(() => {
    const body = JSON.stringify({ place: req.url, degrees: 17 });
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    res.end(body);
  }, req.url.startsWith('/forecast') ? 200 : 3);
}).listen(process.argv[2], '127.0.0.1');
