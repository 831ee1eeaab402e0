// Campsite reservations: a GraphQL API with persisted queries.
import { appendFileSync } from 'node:fs'
import Fastify from 'fastify'
import knexFactory from 'knex'
import mercurius from 'mercurius'
import { Model, raw } from 'objection'
import { charge } from './card.mjs'
import { Deposit, Reservation, Site } from './models.mjs'

const knex = knexFactory({
  client: 'pg',
  connection: { host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'camp', database: 'postgres' },
  pool: { min: 20, max: 20 }
})
Model.knex(knex)

// "within": the deposit is charged while the site's record is held, so that record and charge agree.
// "before": charged first, booked in a transaction of its own after that.
const chargeWithin = (process.env.CHARGE ?? 'within') === 'within'
const log = process.env.TIMING_LOG
const timed = async (what, id, promise) => {
  if (!log) return promise
  const t = performance.now()
  const r = await promise
  appendFileSync(log, `${what} ${id} ${(performance.now() - t).toFixed(1)}\n`)
  return r
}

const held = (trx, id) => timed('lock', id, Site.query(trx).findById(id).forUpdate().throwIfNotFound())

const schema = `
  type Site { id: Int!, name: String!, free: Int!, deposits: Float! }
  type Receipt { id: String!, site: Int! }
  type Query { site(id: Int!): Site }
  type Mutation {
    reserve(site: Int!, guest: String!): Receipt!
    payDeposit(site: Int!, guest: String!, cents: Int!): Receipt!
  }
`
const resolvers = {
  Query: {
    site: (_, { id }) => Site.query().findById(id)
  },
  Site: {
    free: (site) => site.capacity - site.reserved,
    deposits: (site) => Number(site.deposits)
  },
  Mutation: {
    reserve: (_, { site: id, guest }) => Site.transaction(async (trx) => {
      const site = await held(trx, id)
      if (site.reserved >= site.capacity) throw new Error('no place is free')
      const made = await Reservation.query(trx).insert({ site_id: id, guest }).returning('id')
      await Site.query(trx).findById(id).patch({ reserved: site.reserved + 1 })
      return { id: `R${made.id}`, site: id }
    }),
    payDeposit: async (_, { site: id, guest, cents }) => {
      const early = chargeWithin ? null : await charge(id, guest, cents)
      return Site.transaction(async (trx) => {
        await held(trx, id)
        const paid = early ?? await charge(id, guest, cents)
        await Deposit.query(trx).insert({ site_id: id, guest, cents, charge: paid }).returning('id')
        await Site.query(trx).findById(id).patch({ deposits: raw('deposits + ?', cents) })
        return { id: paid, site: id }
      })
    }
  }
}

const app = Fastify({ keepAliveTimeout: 65000 })
await app.register(mercurius, {
  schema,
  resolvers,
  onlyPersisted: true,
  persistedQueries: {
    site: 'query ($id: Int!) { site(id: $id) { id name free deposits } }',
    reserve: 'mutation ($id: Int!, $guest: String!) { reserve(site: $id, guest: $guest) { id site } }',
    deposit: 'mutation ($id: Int!, $guest: String!, $cents: Int!) { payDeposit(site: $id, guest: $guest, cents: $cents) { id site } }'
  }
})
app.get('/health', async () => ({ ok: true }))

// open the pool's connections and run each kind of statement once
await Promise.all(Array.from({ length: 20 }, () => knex.raw('select pg_sleep(0.05)')))
await Promise.all(Array.from({ length: 60 }, (_, n) => resolvers.Mutation.reserve(null, { site: 101 + n % 15, guest: 'start' })))
await charge(120, 'start', 1)
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => process.exit(0))
