// the log store: takes batches, and writes out its block once it has enough of them, during which pushes wait
import http from 'node:http'

const flush = Number(process.env.FLUSH_MS)
let held = 0, until = 0
http.createServer((req, res) => {
  let size = 0
  req.on('data', d => { size += d.length }).on('end', () => {
    held += size
    if (held > 180000) { held = 0; until = Date.now() + flush }
    const left = until - Date.now()
    const done = () => res.writeHead(204).end()
    if (left > 0) setTimeout(done, left)
    else done()
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
