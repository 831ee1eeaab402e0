const http = require('http')
const connect = require('connect')
const axios = require('axios')

const stock = axios.create({
  baseURL: `http://127.0.0.1:${process.env.STOCK_PORT}`,
  httpAgent: new http.Agent({ keepAlive: true, maxSockets: Number(process.env.MAX_SOCKETS || 2) })
})

const app = connect()
app.use('/stock', async (req, res) => {
  try {
    const r = await stock.get('/items/12')
    res.setHeader('content-type', 'application/json')
    res.end(JSON.stringify(r.data))
  } catch (e) {
    res.statusCode = 502
    res.end(String(e))
  }
})
app.use((req, res) => res.end('shop'))
http.createServer(app).listen(Number(process.argv[2]), '127.0.0.1')
