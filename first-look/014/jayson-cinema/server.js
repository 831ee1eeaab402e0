'use strict'
// Seats of a cinema chain, as a JSON-RPC service (jayson) on PostgreSQL (knex).
// Beside the calls of the web shop the process pays out the cinemas: for each
// region a transaction locks the region's open account, asks the bank for a
// payment number, and books it.
const http = require('http')
const jayson = require('jayson/promise')
const knexLib = require('knex')

const port = Number(process.env.PORT)
const bank = Number(process.env.BANK_PORT)
const every = Number(process.env.PAYOUT_MS || 800)

const knex = knexLib({
  client: 'pg',
  connection: {
    host: '127.0.0.1',
    port: Number(process.env.DB_PORT),
    user: 'postgres',
    database: 'cinema',
    application_name: 'cinema'
  },
  pool: { min: Number(process.env.POOL_MIN || 2), max: Number(process.env.POOL_MAX || 4) }
})

const agent = new http.Agent({ keepAlive: true, maxSockets: 16 })
function payment (region) {
  return new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port: bank, path: '/payments/new?region=' + region, agent }, res => {
      let text = ''
      res.on('data', d => { text += d })
      res.on('end', () => resolve(JSON.parse(text).number))
    }).on('error', reject)
  })
}

async function payOut (region) {
  await knex.transaction(async trx => {
    const account = await trx('accounts').where({ region }).forUpdate().first()
    const number = await payment(region)
    await trx('accounts').where({ region }).update({ paid: knex.raw('paid + ?', [account.due]), last_payment: number })
  })
}
setInterval(() => {
  for (const region of [1, 2, 3, 4]) payOut(region).catch(e => console.error('payout', region, e.message))
}, every)

const rpc = new jayson.Server({
  async show ({ id }) {
    return knex('shows').where({ id: id % 3000 + 1 }).first()
  },
  async freeSeats ({ id }) {
    return knex('seats').select('row', 'seat').where({ show_id: id % 3000 + 1, taken: false }).limit(20)
  },
  async take ({ id }) {
    const n = await knex('seats').where({ show_id: id % 3000 + 1, row: id % 5 + 1, seat: id % 8 + 1 }).update({ taken: id % 2 === 0 })
    return { changed: n }
  }
})

// GET and POST /rpc/METHOD/ID are the plain form of the call, for the web shop.
const server = http.createServer((req, res) => {
  const [, , method, id] = req.url.split('/')
  req.resume()
  rpc.call({ jsonrpc: '2.0', id: Number(id), method, params: { id: Number(id) } }, (error, answer) => {
    if (error) return send(res, error.error && error.error.code === -32601 ? 404 : 500, error)
    send(res, 200, answer)
  })
})
function send (res, status, body) {
  const text = JSON.stringify(body)
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  res.end(text)
}
server.keepAliveTimeout = 75000
server.listen(port, '127.0.0.1')

if (process.env.TIMING) { // evidence only: the pool's own counters, and the time to get a connection
  const pool = knex.client.pool
  setInterval(() => console.log('pool', pool.numUsed(), pool.numFree(), pool.numPendingAcquires()), 50)
  const real = knex.client.acquireConnection
  knex.client.acquireConnection = async function () {
    const t = process.hrtime.bigint()
    const c = await real.call(knex.client)
    console.log('acquire', (Number(process.hrtime.bigint() - t) / 1e6).toFixed(1))
    return c
  }
}
