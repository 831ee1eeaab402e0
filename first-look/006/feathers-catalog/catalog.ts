// The catalogue of a garden shop: Feathers on Koa, articles in memory.
import { feathers } from '@feathersjs/feathers'
import { koa, rest, bodyParser, errorHandler } from '@feathersjs/koa'
import { MemoryService } from '@feathersjs/memory'

interface Article { id: number; name: string; family: string; height: number; price: number }

const families = ['rose', 'fern', 'maple', 'grass', 'heath', 'lily', 'mint', 'sage']
const store: Record<number, Article> = {}
for (let id = 1; id <= 900; id++) {
  store[id] = { id, name: `Plant ${(id * 7919) % 10007}`, family: families[id % 8], height: (id * 31) % 300, price: 200 + ((id * 97) % 4000) }
}

type Services = { articles: MemoryService<Article> }
const app = koa<Services>(feathers<Services>())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
app.use('articles', new MemoryService<Article>({ store, startId: 901, paginate: { default: 20, max: 60 } }))
app.service('articles').hooks({
  before: {
    find: [async ctx => { ctx.params.query = { $sort: { price: 1, name: 1 }, ...ctx.params.query } }]
  }
})
app.listen(Number(process.env.PORT), '127.0.0.1').then(server => { server.keepAliveTimeout = 65_000 })
