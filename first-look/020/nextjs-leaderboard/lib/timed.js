import { appendFileSync } from 'node:fs'
import { database } from './db.js'

// only with TIMING_LOG (never set in case.toml): how long a query took, and how many waited for the pool
export async function timed(name, query) {
  const file = process.env.TIMING_LOG
  if (!file) return query()
  const { pool } = database()
  const waiting = pool.waitingCount
  const t = performance.now()
  try {
    return await query()
  } finally {
    appendFileSync(file, `${name} ${(performance.now() - t).toFixed(1)} poolwaiting=${waiting} total=${pool.totalCount} idle=${pool.idleCount}\n`)
  }
}
