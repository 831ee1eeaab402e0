// The site's process: Astro's request handler on Node's own HTTP server.
import { createServer } from 'node:http'
import { handler } from './dist/server/entry.mjs'

const server = createServer((req, res) => handler(req, res, () => {
  res.statusCode = 404
  res.end()
}))
server.keepAliveTimeout = 65000
server.listen(Number(process.env.PORT), '127.0.0.1')
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
