'use strict'
// The bank's payment service: a new number after LATENCY_MS.
const http = require('http')
const latency = Number(process.env.LATENCY_MS || 110)
let n = 0
const server = http.createServer((req, res) => setTimeout(() => {
  const text = JSON.stringify({ number: 'RF' + (100000 + ++n) })
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length })
  res.end(text)
}, latency))
server.keepAliveTimeout = 75000
server.listen(Number(process.argv[2]), '127.0.0.1')
