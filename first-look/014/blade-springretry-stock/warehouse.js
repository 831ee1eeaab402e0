'use strict'
// The warehouse service. Its limiter turns away one call in EVERY with 503 at
// once, as it does at a busy time; the others are answered in 2 ms.
const http = require('http')
const every = Number(process.env.EVERY || 9)
let n = 0
const server = http.createServer((req, res) => {
  const busy = ++n % every === 0
  setTimeout(() => {
    const text = busy ? 'busy' : String(req.url.length * 7 % 90)
    res.writeHead(busy ? 503 : 200, { 'Content-Type': 'text/plain', 'Content-Length': text.length })
    res.end(text)
  }, 2)
})
server.keepAliveTimeout = 75000
server.listen(Number(process.argv[2]), '127.0.0.1')
