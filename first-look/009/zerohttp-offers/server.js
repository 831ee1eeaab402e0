// A shop's front: prices and offers come from the supplier over one HTTP/2 connection.
const http2 = require('http2')
const zero = require('0http')

const { router, server } = zero()
const supplier = http2.connect(process.env.SUPPLIER)

function ask (path) {
  return new Promise((resolve, reject) => {
    const req = supplier.request({ ':path': path })
    let body = ''
    req.setEncoding('utf8')
    req.on('data', d => { body += d })
    req.on('end', () => resolve(JSON.parse(body)))
    req.on('error', reject)
    req.end()
  })
}

function send (res, value) {
  res.setHeader('Content-Type', 'application/json')
  res.end(JSON.stringify(value))
}

router.get('/price/:id', async (req, res) => send(res, await ask('/price/' + req.params.id)))

router.get('/offers/:id', async (req, res) => {
  const regions = [1, 2, 3, 4, 5, 6, 7, 8]
  send(res, await Promise.all(regions.map(r => ask(`/offers/${req.params.id}/${r}`))))
})

router.get('/', (req, res) => send(res, { ok: true }))

server.keepAliveTimeout = 65000
server.listen(Number(process.argv[2]), '127.0.0.1')
