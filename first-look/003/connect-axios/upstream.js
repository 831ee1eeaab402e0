// the other team's service
const http = require('http')
const wait = Number(process.env.REPLY_MS || 5)
const s = http.createServer((req, res) => setTimeout(() => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ path: req.url, value: 1042 }))
}, wait))
s.keepAliveTimeout = 60000
s.listen(Number(process.argv[2]), '127.0.0.1')
