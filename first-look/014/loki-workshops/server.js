'use strict'
// Spare parts of bicycle workshops. The store is LokiJS (in memory, saved to
// one file by its own autosave timer); routes are those of find-my-way.
const http = require('http')
const path = require('path')
const Loki = require('lokijs')

const port = Number(process.env.PORT)
const file = path.join(process.env.DATA_DIR, 'parts.db')
const autosaveMs = Number(process.env.AUTOSAVE_MS || 4000)

const router = require('find-my-way')({
  defaultRoute: (req, res) => send(res, 404, { error: 'no such page' })
})

const db = new Loki(file, {
  adapter: new Loki.LokiFsAdapter(),
  autosave: true,
  autosaveInterval: autosaveMs
})
const parts = db.addCollection('parts', { unique: ['sku'], indices: ['shelf'] })
const moves = db.addCollection('moves')

const makers = ['Shimoda', 'Campo', 'Tektrom', 'Braun', 'Velona']
const kinds = ['brake pad', 'chain', 'cassette', 'inner tube', 'bottom bracket', 'saddle', 'hub']
const batch = []
for (let i = 0; i < Number(process.env.PARTS || 16000); i++) {
  batch.push({
    sku: 'P' + i,
    name: `${makers[i % 5]} ${kinds[i % 7]} ${i}`,
    shelf: i % 2000,
    stock: 5 + (i % 90),
    cents: 299 + (i * 37) % 9000,
    notes: 'fits 622 and 559 wheels, sold by the pair'
  })
}
parts.insert(batch)

function send (res, status, body) {
  const text = JSON.stringify(body)
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  res.end(text)
}

const view = p => ({ sku: p.sku, name: p.name, shelf: p.shelf, stock: p.stock, cents: p.cents })

router.on('GET', '/parts/:sku', (req, res, params) => {
  const p = parts.by('sku', params.sku)
  if (!p) return send(res, 404, { error: 'no such part' })
  send(res, 200, view(p))
})

router.on('GET', '/shelves/:shelf', (req, res, params) => {
  send(res, 200, parts.find({ shelf: Number(params.shelf) }).map(view))
})

router.on('POST', '/parts/:sku/take', (req, res, params) => {
  const p = parts.by('sku', params.sku)
  if (!p) return send(res, 404, { error: 'no such part' })
  p.stock = p.stock > 0 ? p.stock - 1 : 50
  parts.update(p)
  moves.insert({ sku: p.sku, by: -1, at: Date.now() })
  send(res, 200, { sku: p.sku, stock: p.stock })
})

const server = http.createServer((req, res) => router.lookup(req, res))
server.keepAliveTimeout = 75000
server.listen(port, '127.0.0.1')

if (process.env.TIMING) { // evidence only: how long each serialisation keeps the thread
  const real = db.serialize
  db.serialize = function (...a) {
    const t = process.hrtime.bigint()
    const r = real.apply(db, a)
    console.log('serialize', Number(process.hrtime.bigint() - t) / 1e6)
    return r
  }
}
