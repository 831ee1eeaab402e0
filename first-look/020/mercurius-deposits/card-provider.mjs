// Stands for the card provider, which is far away: its answers take 105 to 115 ms.
import { createServer } from 'node:http'

let n = 0
const server = createServer((req, res) => {
  req.resume()
  req.on('end', () => {
    setTimeout(() => {
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ id: `ch_${++n}`, status: 'succeeded' }))
    }, 105 + Math.random() * 10)
  })
})
server.keepAliveTimeout = 60000
server.listen(Number(process.argv[2]), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
