// The supplier: HTTP/2 without TLS, data in PostgreSQL.
const http2 = require('http2')
const { Pool } = require('pg')
const db = new Pool({ host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'supplier', database: 'postgres', max: 20 })

const server = http2.createServer({ settings: { maxConcurrentStreams: Number(process.env.STREAMS || 100) } })
server.on('stream', async (stream, headers) => {
  const [, what, id, region] = headers[':path'].split('/')
  const { rows } = what === 'price'
    ? await db.query('SELECT id, price FROM article WHERE id = $1', [id])
    : await db.query('SELECT a.id, a.price, r.wait FROM article a, LATERAL (SELECT pg_sleep(0.11)::text AS wait) r WHERE a.id = $1::int + $2::int', [id, region])
  stream.respond({ ':status': 200, 'content-type': 'application/json' })
  stream.end(JSON.stringify(rows))
})
db.query('SELECT 1').then(() => server.listen(Number(process.argv[2]), '127.0.0.1'))
