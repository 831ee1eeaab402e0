const express = require('express')
const crypto = require('crypto')
const app = express()
app.use(express.json({ limit: '20mb' }))

app.get('/', (req, res) => res.send('import'))
app.post('/import', (req, res) => {
  let sum = 0
  const seen = new Set()
  for (const row of req.body.rows) {
    seen.add(crypto.createHash('sha1').update(row.sku + row.title).digest('hex'))
    sum += row.amount
  }
  res.json({ rows: req.body.rows.length, distinct: seen.size, sum })
})

app.listen(Number(process.argv[2]), '127.0.0.1')
