// The price service: a price takes it 5 to 11 ms.
const http = require('http')
http.createServer((req, res) => {
  const sku = req.url.split('/').pop()
  const cents = 100 + (sku.length * 7919) % 5000
  setTimeout(() => {
    const s = JSON.stringify({ sku, cents })
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': s.length })
    res.end(s)
  }, 5 + Math.random() * 6)
}).listen(Number(process.argv[2]), '127.0.0.1')
