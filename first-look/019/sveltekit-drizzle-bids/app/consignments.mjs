// Import of the consignments of partner houses into the catalogue, a process of its own.  Each 0.75 s six workers (one a
// partner) take the next consignment: one transaction each, items are written as they come from the partner (three
// pages, 30 ms apart).  Touches no table of the bidding.
import { createServer } from 'node:net'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'

const [port, portFile] = process.argv.slice(2)
createServer((socket) => socket.end()).listen(Number(port), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
const pool = new pg.Pool({
  host: '127.0.0.1', port: Number(readFileSync(portFile, 'utf8')), user: 'postgres', database: 'auction',
  max: 6, idleTimeoutMillis: 0,
})

async function consignment(partner, n) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    for (let page = 0; page < 3; page++) {
      await client.query(
        `INSERT INTO consignment_items (partner, consignment, title)
         SELECT $1, $2, 'Item ' || i FROM generate_series(1, 8) AS i`,
        [partner, n]
      )
      await delay(30)
    }
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

for (let n = 0; ; n++) {
  await Promise.all([0, 1, 2, 3, 4, 5].map((partner) => consignment(partner, n)))
  await delay(750)
}
