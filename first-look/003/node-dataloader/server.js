const http = require('http')
const DataLoader = require('dataloader')
const { createClient } = require('redis')

const redis = createClient({ url: `redis://127.0.0.1:${process.env.REDIS_PORT}` })
const users = new DataLoader(async ids => {
  const rows = await redis.mGet(ids.map(i => 'user:' + i))
  return rows.map((r, i) => ({ id: ids[i], name: r || 'guest' }))
}, {
  cache: false,
  batchScheduleFn: go => setTimeout(go, Number(process.env.COLLECT_MS || 1))
})

async function main () {
  await redis.connect()
  http.createServer(async (req, res) => {
    const u = new URL(req.url, 'http://x')
    if (u.pathname === '/user') {
      const user = await users.load(u.searchParams.get('id'))
      res.setHeader('content-type', 'application/json')
      return res.end(JSON.stringify(user))
    }
    if (u.pathname === '/count') return res.end(String(await redis.dbSize()))
    res.end('ok')
  }).listen(Number(process.argv[2]), '127.0.0.1')
}
main()
