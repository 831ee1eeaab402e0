// The trails, their conditions and the visitors' sessions are in Redis.
import { appendFileSync } from 'node:fs'
import { createClient } from 'redis'

const url = `redis://127.0.0.1:${process.env.REDIS_PORT}`
const client = await createClient({ url }).connect()
const log = process.env.TIMING_LOG

export async function trail (id) {
  const t = performance.now()
  const [record, reports] = await Promise.all([
    client.hGetAll(`trail:${id}`),
    client.lRange(`reports:${id}`, 0, 4)
  ])
  if (log) appendFileSync(log, `trail ${Date.now()} ${(performance.now() - t).toFixed(1)}\n`)
  return record.name ? { ...record, reports } : null
}

export const ping = () => client.ping()

// "n people are looking at the trails": renewed by a connection of its own
let now = 0
export const online = () => now
const counter = await createClient({ url }).connect()
const count = {
  keys: async () => (await counter.keys('online:*')).length,
  set: () => counter.sCard('online')
}[process.env.ONLINE_BY ?? 'keys']
async function renew () {
  const t = performance.now()
  now = await count()
  if (log) appendFileSync(log, `count ${Date.now()} ${(performance.now() - t).toFixed(1)}\n`)
  setTimeout(renew, 600)
}
await renew()
