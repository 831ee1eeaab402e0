import { building } from '$app/environment'
import { env } from '$env/dynamic/private'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'

const pool = (globalThis.auctionPool ??= new Pool({
  host: '127.0.0.1',
  port: Number(env.DB_PORT),
  user: 'postgres',
  database: 'auction',
  max: 24,
  idleTimeoutMillis: 0,
}))

// some connections from the start
if (!building) await Promise.allSettled(Array.from({ length: 12 }, () => pool.query('SELECT count(*) FROM lots')))

export const db = drizzle(pool)

process.once('sveltekit:shutdown', () => pool.end())
