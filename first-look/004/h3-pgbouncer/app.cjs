const { createServer } = require('node:http')
const { createApp, createRouter, eventHandler, toNodeListener, getQuery } = require('h3')
const { Pool } = require('pg')

const pool = new Pool({ host: '127.0.0.1', port: +process.env.PG_PORT, user: 'postgres', database: 'shop', max: 60 })
const payments = process.env.PAYMENTS_URL

const router = createRouter()
router.get('/ready', eventHandler(async () => { await pool.query('select 1'); return 'ok' }))

router.get('/product', eventHandler(async event => {
  const { id } = getQuery(event)
  const { rows } = await pool.query('select id, name, price from product where id = $1', [id])
  return rows[0]
}))

router.get('/orders', eventHandler(async () => {
  const { rows } = await pool.query('select id, name, price from product order by id limit 400')
  return rows
}))

router.post('/order', eventHandler(async event => {
  const { id } = getQuery(event)
  const db = await pool.connect()
  try {
    await db.query('begin')
    const { rows } = await db.query('insert into orders (product, state) values ($1, $2) returning id', [id, 'new'])
    const paid = await fetch(payments + '/charge', { method: 'POST', body: JSON.stringify({ order: rows[0].id }) })
    await paid.json()
    await db.query('update orders set state = $2 where id = $1', [rows[0].id, 'paid'])
    await db.query('commit')
    return { order: rows[0].id }
  } catch (e) {
    await db.query('rollback')
    throw e
  } finally {
    db.release()
  }
}))

const app = createApp()
app.use(router)
const server = createServer(toNodeListener(app))
server.keepAliveTimeout = 65000
server.listen(+process.env.PORT, '127.0.0.1')
