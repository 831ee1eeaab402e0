import { createRequire } from 'module'
const require = createRequire(process.env.MODULES + '/')
const { serve } = require('@hono/node-server')
const { Hono } = require('hono')
const { default: pLimit } = await import(process.env.MODULES + '/p-limit/index.js')

const limit = pLimit(Number(process.env.PARALLEL || 2))
const app = new Hono()

app.get('/', c => c.text('shop'))
app.get('/offer', async c => {
  const offer = await limit(async () => {
    const r = await fetch(`http://127.0.0.1:${process.env.OFFERS_PORT}/offers/7`)
    return r.json()
  })
  return c.json(offer)
})

serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: '127.0.0.1' })
