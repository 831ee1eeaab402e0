import { createRequire } from 'node:module'
const require = createRequire(process.env.MODULES + '/')
const { Hono } = require('hono')
const { serve } = require('@hono/node-server')
const Bottleneck = require('bottleneck')

// the geocoder's terms of use: so many lookups in each quarter of a second
const perWindow = Number(process.env.PER_WINDOW)
const limiter = new Bottleneck({ reservoir: perWindow, reservoirRefreshAmount: perWindow, reservoirRefreshInterval: 250 })
const geocode = async (q) => {
  const r = await fetch(`http://127.0.0.1:${process.env.GEO_PORT}/?q=${encodeURIComponent(q)}`)
  return r.json()
}
const app = new Hono()
app.get('/', (c) => c.text('geo'))
app.get('/address', async (c) => c.json(await limiter.schedule(() => geocode(c.req.query('q')))))
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.argv[2]) })
