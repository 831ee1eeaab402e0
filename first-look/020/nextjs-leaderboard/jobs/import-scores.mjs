// Takes over the scores of the game servers in batches and brings the ranking up to date after each batch.
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { appendFileSync } from 'node:fs'
import pg from 'pg'

const [port, dbPort, mode] = process.argv.slice(2)
const log = process.env.TIMING_LOG
const refresh = mode === 'concurrently'
  ? 'REFRESH MATERIALIZED VIEW CONCURRENTLY rankings'
  : 'REFRESH MATERIALIZED VIEW rankings'
const db = new pg.Client({ host: '127.0.0.1', port: Number(dbPort), user: 'postgres', database: 'game', application_name: 'score-import' })
db.on('error', () => process.exit(0))
for (let tries = 0; ; tries++) {
  try { await db.connect(); break } catch (e) { console.error('score-import', e.message); process.exit(1) }
}
process.on('SIGTERM', () => process.exit(0))
createServer((s) => s.end('score-import\n')).listen(Number(port), '127.0.0.1')

for (;;) {
  await pause(600)
  await db.query(`INSERT INTO scores (player_id, level, points)
    SELECT 1 + (random() * 3999)::int, 1 + (random() * 59)::int, 100 + (random() * 900)::int FROM generate_series(1, 25)`)
  const t = performance.now()
  await db.query(refresh)
  if (log) appendFileSync(log, `refresh ${(performance.now() - t).toFixed(1)}\n`)
}
