const restana = require('restana')
const mysql = require('mysql2/promise')

const pool = mysql.createPool({ host: '127.0.0.1', port: +process.env.DB_PORT, user: 'stock', password: 'stock', database: 'stock', connectionLimit: 50 })
const carrier = process.env.CARRIER_URL
const app = restana()

app.get('/ready', async (req, res) => {
  await pool.query('select 1')
  res.send('ok')
})

// product page: read the product and count the view
app.get('/product/:sku', async (req, res) => {
  await pool.execute('update product set views = views + 1 where sku = ?', [req.params.sku])
  const [rows] = await pool.execute('select sku, name, qty, views from product where sku = ?', [req.params.sku])
  res.send(rows[0])
})

// reserve one piece: check stock, ask the carrier for a pick-up slot, take it off the stock
app.post('/reserve/:sku', async (req, res) => {
  const db = await pool.getConnection()
  try {
    await db.beginTransaction()
    const [rows] = await db.execute('select qty from product where sku = ? for update', [req.params.sku])
    const slot = await (await fetch(carrier + '/slots')).json()
    await db.execute('update product set qty = ? where sku = ?', [rows[0].qty - 1, req.params.sku])
    await db.commit()
    res.send({ sku: req.params.sku, slot: slot.slot })
  } catch (e) {
    await db.rollback()
    res.send(e, 500)
  } finally {
    db.release()
  }
})

app.getServer().keepAliveTimeout = 65000
app.start(+process.env.PORT, '127.0.0.1')
