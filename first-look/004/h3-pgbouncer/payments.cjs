// stand-in for the payment provider: answers after the time a card authorisation takes
const http = require('node:http')
const [port, ms] = process.argv.slice(2).map(Number)
http.createServer((req, res) => {
  req.resume()
  setTimeout(() => res.setHeader('content-type', 'application/json').end('{"authorised":true}'), ms)
}).listen(port, '127.0.0.1')
