// Baskets of a shop: Moleculer with its web gateway; prices are asked of the price service.
const { createRequire } = require('module')
const req = createRequire(process.env.MODULES + '/')
const { ServiceBroker } = req('moleculer')
const ApiService = req('moleculer-web')
const { Agent, request } = req('undici')

const prices = new Agent({ connections: 64, pipelining: 1 })
const baskets = new Map()
for (let id = 1; id <= 25; id++) {
  const lines = id === 7 || id === 19 ? 26 : 1 + (id % 2)
  baskets.set(id, Array.from({ length: lines }, (_, n) => ({ sku: `A${id}${n}`, quantity: 1 + (n % 4) })))
}

const broker = new ServiceBroker({ nodeID: 'shop', logger: false })
broker.createService({
  name: 'prices',
  actions: {
    async get(ctx) {
      const { body } = await request(`${process.env.PRICES}/prices/${ctx.params.sku}`, { dispatcher: prices })
      return (await body.json()).cents
    }
  }
})
broker.createService({
  name: 'baskets',
  actions: {
    async get(ctx) {
      const lines = []
      let total = 0
      for (const line of baskets.get(Number(ctx.params.id)) ?? []) {
        const cents = await ctx.call('prices.get', { sku: line.sku })
        lines.push({ ...line, cents })
        total += cents * line.quantity
      }
      return { id: ctx.params.id, lines, total }
    }
  }
})
broker.createService({
  name: 'api',
  mixins: [ApiService],
  settings: {
    ip: '127.0.0.1',
    port: Number(process.env.PORT),
    routes: [{ path: '/', aliases: { 'GET baskets/:id': 'baskets.get', 'GET ready': (_, res) => res.end('ok') } }]
  }
})
broker.start().then(() => { broker.getLocalService('api').server.keepAliveTimeout = 65_000 })
