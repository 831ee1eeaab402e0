// product pages of a shop; suggestions come from a recommender behind an opossum circuit breaker
import http from 'node:http'
import Router from 'router'
import finalhandler from 'finalhandler'
import CircuitBreaker from 'opossum'

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 })
const recommender = Number(process.env.RECOMMENDER_PORT)

const recommend = id => new Promise((resolve, reject) => {
  http.get({ host: '127.0.0.1', port: recommender, path: `/suggest/${id}`, agent }, res => {
    let text = ''
    res.setEncoding('utf8').on('data', d => { text += d }).on('end', () => resolve(JSON.parse(text))).on('error', reject)
  }).on('error', reject)
})

const breaker = new CircuitBreaker(id => recommend(id), {
  timeout: Number(process.env.SUGGEST_TIMEOUT_MS), errorThresholdPercentage: 50, volumeThreshold: 20
})
breaker.fallback(() => ({ items: [], from: 'bestsellers' }))

const json = (res, data) => {
  const body = JSON.stringify(data)
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
}

const router = Router()
router.get('/health', (req, res) => json(res, { ok: true }))
router.get('/stats', (req, res) => json(res, breaker.stats))
router.get('/product/:id', async (req, res) => {
  const id = Number(req.params.id)
  const suggestions = await breaker.fire(id)
  json(res, { id, title: `product ${id}`, price: 5 + id % 90, suggestions })
})

http.createServer((req, res) => router(req, res, finalhandler(req, res))).listen(Number(process.env.PORT), '127.0.0.1')
