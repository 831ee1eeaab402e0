// Wholesale shop. A basket holds orders of several customers (a buying group); each order is a transaction of its
// own, and those of a basket are placed at once. ORDER_READS=client: the customer is read with the client that the
// whole program uses, in the middle of the transaction; ORDER_READS=tx: with the transaction's own.
import http from 'node:http'
import findMyWay from 'find-my-way'
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import pkg from '@prisma/client'

const adapter = new PrismaMariaDb({
  host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'shop', password: 'shop', database: 'shop',
  connectionLimit: 5, minimumIdle: 5 // two cores: twice that and one, as Prisma's pools have always had
})
const prisma = new pkg.PrismaClient({ adapter })
const inTx = process.env.ORDER_READS === 'tx'

async function place (customerId, productId, quantity) {
  return prisma.$transaction(async tx => {
    const customer = await (inTx ? tx : prisma).customer.findUnique({ where: { id: customerId } })
    const product = await tx.product.findUnique({ where: { id: productId } })
    if (customer.credit < product.price * quantity) throw new Error('credit')
    const order = await tx.order.create({ data: { customerId, status: 'placed' } })
    if (!order) throw Object.assign(new Error('rolled back meanwhile'), { code: 'P2028' })
    await tx.orderLine.create({ data: { orderId: order.id, productId, quantity } })
    return order.id
  }, { maxWait: 4000, timeout: 300 })
}

// transactions that have expired (P2028) are tried again, one after the other
let again = Promise.resolve()

async function placeSafely (...order) {
  try {
    return await place(...order)
  } catch (e) {
    if (e.code !== 'P2028') throw e
    console.error('again:', e.message.split('\n').pop())
    let retried = again
    for (let i = 0; i < 4; i++) retried = i ? retried.catch(() => place(...order)) : retried.then(() => place(...order))
    again = retried.catch(() => {})
    return retried
  }
}

function send (res, status, value) {
  const body = JSON.stringify(value)
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  res.end(body)
}

async function body (req) {
  const parts = []
  for await (const p of req) parts.push(p)
  return JSON.parse(Buffer.concat(parts).toString())
}

const router = findMyWay({ defaultRoute: (req, res) => send(res, 404, {}) })
router.on('GET', '/health', async (req, res) => {
  await prisma.product.findUnique({ where: { id: 1 } })
  send(res, 200, { ok: true })
})
router.on('GET', '/products/:id', async (req, res, { id }) => {
  const product = await prisma.product.findUnique({ where: { id: Number(id) } })
  send(res, product ? 200 : 404, product)
})
router.on('POST', '/baskets', async (req, res) => {
  const { first, orders } = await body(req)
  const placed = await Promise.all(Array.from({ length: orders }, (_, i) =>
    placeSafely(1 + (first * 7 + i) % 2000, 1 + (first * 13 + i * 17) % 1000, 1 + i % 5)))
  send(res, 201, { placed })
})

const server = http.createServer((req, res) => {
  Promise.resolve(router.lookup(req, res)).catch(e => {
    console.error(e.message)
    if (!res.headersSent) send(res, 503, { error: 'busy' })
  })
})
server.keepAliveTimeout = 75000
await Promise.all(Array.from({ length: 5 }, (_, i) => prisma.product.findUnique({ where: { id: i + 1 } })))
server.listen(Number(process.env.PORT), '127.0.0.1')
