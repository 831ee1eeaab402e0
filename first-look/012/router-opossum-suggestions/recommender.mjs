// the recommender: some products have no model loaded, and it takes seconds to fetch one from the archive
import http from 'node:http'

const archived = Number(process.env.ARCHIVED_PERCENT)
http.createServer((req, res) => {
  const id = Number(req.url.split('/').pop()) || 0
  const answer = () => {
    const body = JSON.stringify({ items: [1, 2, 3, 4].map(i => (id * 31 + i * 17) % 5000), from: 'model' })
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  }
  if ((id * 2654435761 >>> 0) % 100 < archived) setTimeout(answer, 2500)
  else setTimeout(answer, 2)
}).listen(Number(process.env.PORT), '127.0.0.1')
