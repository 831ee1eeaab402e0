// valuers.mjs PORT SHARED TMP WEDGED: six valuer processes in one NATS queue group. PORT is the supervisor's status page.
// The number WEDGED (0: none) sits in the opening of the land registry's pipe, nobody writes to it any more.
import { fork } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, JSONCodec } from 'nats'

const [port, shared, tmp, wedged] = process.argv.slice(2)

async function valuer(number) {
  const servers = `nats://127.0.0.1:${fs.readFileSync(path.join(shared, 'nats.port'), 'utf8').trim()}`
  const nc = await connect({ servers, name: `valuer-${number}` })
  const codec = JSONCodec()
  nc.subscribe('houses.appraise', {
    queue: 'valuers',
    callback: (err, msg) => {
      const h = codec.decode(msg.data)
      const value = Math.round(h.area * 3100 * (1 - (2024 - h.built) / 400) + h.rooms * 9000)
      msg.respond(codec.encode({ value, valuer: `valuer-${number}` }))
    },
  })
  await nc.flush()
  process.send({ ready: number })
  if (number === Number(wedged)) {
    setTimeout(() => fs.readFileSync(path.join(tmp, 'registry.pipe')), 100)
  }
}

async function supervisor() {
  const children = []
  await Promise.all([1, 2, 3, 4, 5, 6].map(number => new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2), { env: { ...process.env, VALUER: String(number) } })
    children.push(child)
    child.once('message', resolve)
    child.once('exit', code => reject(new Error(`valuer ${number} ended with ${code}`)))
  })))
  let left = children.length
  process.on('SIGTERM', () => {
    for (const c of children) {
      c.once('exit', () => { if (--left === 0) process.exit(0) })
      c.kill('SIGKILL')
    }
  })
  await new Promise(resolve => setTimeout(resolve, 300))
  http.createServer((req, res) => res.end(`${children.length} valuers\n`)).listen(Number(port), '127.0.0.1')
}

await (process.env.VALUER ? valuer(Number(process.env.VALUER)) : supervisor())
