'use strict'
// Donations to campaigns: the page of a campaign, and what a donor gave. MAX_LIFETIME is the pool's maxLifetimeSeconds (0: for ever).
const medley = require('@medley/medley')
const { Pool } = require('pg')

const [port, dbPort] = process.argv.slice(2).map(Number)
const pool = new Pool({
  host: '127.0.0.1', port: dbPort, user: 'donations', password: 'donations', database: 'postgres',
  ssl: { rejectUnauthorized: false },
  max: 6, idleTimeoutMillis: 0, maxLifetimeSeconds: Number(process.env.MAX_LIFETIME),
})
pool.on('error', () => {})
if (process.env.TRACE) pool.on('connect', () => console.error(`${Date.now() % 100000} connect, total ${pool.totalCount}`))

async function query(name, text, values) {
  const begin = performance.now()
  const { rows } = await pool.query({ name, text, values })
  const took = performance.now() - begin
  if (process.env.TRACE && took > 20) console.error(`${Date.now() % 100000} ${name} ${took.toFixed(1)} ms`)
  return rows
}

const CAMPAIGN = ['campaign', 'SELECT title, goal FROM campaigns WHERE id = $1']
const SUM = ['sum', 'SELECT count(*) AS gifts, sum(cents) AS cents FROM donations WHERE campaign = $1 AND day >= $2']
const DONOR = ['donor', 'SELECT campaign, cents, day FROM donations WHERE donor = $1 ORDER BY day DESC LIMIT 20']

const app = medley()

app.get('/health', async (req, res) => {
  const [row] = await query('health', 'SELECT count(*) FROM campaigns', [])
  res.send({ campaigns: Number(row.count) })
})

app.get('/campaigns/:id', async (req, res) => {
  const id = Number(req.params.id)
  const [[campaign], [sum]] = await Promise.all([
    query(...CAMPAIGN, [id]),
    query(...SUM, [id, '2025-09-01']),
  ])
  res.send({ id, ...campaign, gifts: Number(sum.gifts), cents: Number(sum.cents) })
})

app.get('/donors/:id', async (req, res) => {
  const id = Number(req.params.id)
  const gifts = await query(...DONOR, [id])
  res.send({ donor: id, gifts })
})

// the pool is filled before the first request
async function fill() {
  const clients = await Promise.all(Array.from({ length: 6 }, () => pool.connect()))
  for (const client of clients) {
    for (const [name, text, values] of [[...CAMPAIGN, [1]], [...SUM, [1, '2025-09-01']], [...DONOR, [1]]]) {
      await client.query({ name, text, values })
    }
  }
  for (const client of clients) client.release()
}

fill().then(() => app.listen(port, '127.0.0.1'))
