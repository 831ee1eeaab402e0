// The carrier: a label takes it some 80 ms.
const http = require('http')
http.createServer((req, res) => {
  if (req.url === '/ready') return res.end('ok')
  const ref = new URL(req.url, 'http://c').searchParams.get('ref')
  setTimeout(() => res.end(`^XA^FO50,50^FD${ref}^FS^XZ`), 60 + Math.random() * 40)
}).listen(Number(process.argv[2]), '127.0.0.1')
