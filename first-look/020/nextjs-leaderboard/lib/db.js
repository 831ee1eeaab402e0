import { Pool } from 'pg'
import { drizzle } from 'drizzle-orm/node-postgres'
import { pgTable, pgMaterializedView, integer, bigint, serial, text, timestamp } from 'drizzle-orm/pg-core'

export const players = pgTable('players', {
  id: integer('id').primaryKey(),
  name: text('name').notNull(),
  region: text('region').notNull(),
  joined: timestamp('joined').notNull(),
})

export const scores = pgTable('scores', {
  id: serial('id').primaryKey(),
  playerId: integer('player_id').notNull(),
  level: integer('level').notNull(),
  points: integer('points').notNull(),
  played: timestamp('played').notNull().defaultNow(),
})

export const rankings = pgMaterializedView('rankings', {
  region: text('region').notNull(),
  playerId: integer('player_id').notNull(),
  name: text('name').notNull(),
  best: bigint('best', { mode: 'number' }).notNull(),
  games: bigint('games', { mode: 'number' }).notNull(),
  place: bigint('place', { mode: 'number' }).notNull(),
}).existing()

function connect() {
  const pool = new Pool({
    host: '127.0.0.1',
    port: Number(process.env.DB_PORT),
    user: 'postgres',
    database: 'game',
    max: 20,
    min: 4,
    idleTimeoutMillis: 0,
    application_name: 'leaderboard-web',
  })
  pool.on('error', (e) => console.error('pool', e.message))
  // warm connections: the first requests must not pay for the handshake
  Promise.all(Array.from({ length: 20 }, () => pool.connect()))
    .then((cs) => cs.forEach((c) => c.release()), (e) => console.error('pool', e.message))
  const db = drizzle(pool)
  return { pool, db }
}

export function database() {
  globalThis.__leaderboard ??= connect()
  return globalThis.__leaderboard
}
