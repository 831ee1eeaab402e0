// check-ins of a chain of gyms on feTS; every request is logged by pino, to its default destination (standard output)
import http from 'node:http'
import { createRouter, Response } from 'fets'
import pino from 'pino'

const log = pino({ level: process.env.LOG_LEVEL ?? 'info' }, pino.destination({ dest: process.env.LOG_FILE ?? 1, sync: !process.env.LOG_FILE }))
const members = Array.from({ length: 2000 }, (_, i) => ({ id: i, name: `member ${i}`, club: i % 40, visits: [] }))

const router = createRouter({ landingPage: false, swaggerUI: false, openAPI: { endpoint: false } })
  .route({ method: 'GET', path: '/health', handler: () => Response.json({ ok: true }) })
  .route({
    method: 'GET', path: '/checkin/:member',
    handler: req => {
      const m = members[Number(req.params.member) % members.length]
      m.visits.push(Date.now())
      if (m.visits.length > 20) m.visits.shift()
      log.info({ path: `/checkin/${m.id}`, headers: Object.fromEntries(req.headers), member: m, club: clubs[m.club] }, 'check-in')
      return Response.json({ member: m.id, visits: m.visits.length })
    }
  })
const clubs = Array.from({ length: 40 }, (_, i) => ({ id: i, rooms: Array.from({ length: 24 }, (_, r) => ({ room: r, name: `hall ${r} of club ${i}`, places: 10 + r })) }))

http.createServer(router).listen(Number(process.env.PORT), '127.0.0.1')
