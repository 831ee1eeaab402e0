const http = require('http')

// Seats of a theatre: a look at the plan is quick, an export of the evening is not.
http.createServer((req, res) => {
  const ms = req.url.startsWith('/export') ? 220 : 8
  setTimeout(() => {
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify({ url: req.url, free: 17 }))
  }, ms)
}).listen(Number(process.argv[2]), '127.0.0.1')
