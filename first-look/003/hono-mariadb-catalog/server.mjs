import { createRequire } from 'node:module'
const require = createRequire(process.env.MODULES + '/')
const { Hono } = require('hono')
const { serve } = require('@hono/node-server')
const mysql = require('mysql2/promise')

const pool = mysql.createPool({ host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'shop', password: 'shop', database: 'shop', connectionLimit: 60 })
const app = new Hono()
app.get('/health', async (c) => { await pool.query('SELECT 1'); return c.text('ok') })
app.get('/product/:id', async (c) => {
  const [rows] = await pool.execute('SELECT id, name, cents FROM products WHERE id = ?', [c.req.param('id')])
  return c.json(rows[0])
})
app.get('/stores', async (c) => {
  const [rows] = await pool.execute('SELECT id, city FROM stores')
  return c.json(rows)
})
serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.argv[2]) })
