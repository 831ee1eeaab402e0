// stand-in for the carrier's booking service
const http = require('node:http')
const [port, ms] = process.argv.slice(2).map(Number)
http.createServer((req, res) => {
  setTimeout(() => res.setHeader('content-type', 'application/json').end('{"slot":"14:30"}'), ms)
}).listen(port, '127.0.0.1')
