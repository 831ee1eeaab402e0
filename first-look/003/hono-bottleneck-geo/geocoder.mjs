import http from 'node:http'
http.createServer((req, res) => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ lat: 52.1, lon: 4.3, q: req.url }))
}).listen(Number(process.argv[2]), '127.0.0.1')
