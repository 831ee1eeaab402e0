// House appraisals: oRPC's OpenAPI handler on Bun, the valuers answer over NATS (request-reply, queue group).
import { ORPCError, os } from '@orpc/server'
import { OpenAPIHandler } from '@orpc/openapi/fetch'
import { z } from 'zod'
import { Valuers } from './valuers'
import { districts, houses } from './houses'

const valuers = await Valuers.connect(`nats://127.0.0.1:${process.env.NATS_PORT}`)

const router = {
  health: os.route({ method: 'GET', path: '/health' }).handler(() => ({ houses: houses.size })),

  house: os.route({ method: 'GET', path: '/houses/{id}' })
    .input(z.object({ id: z.coerce.number().int() }))
    .handler(({ input }) => houses.get(input.id) ?? notFound('house')),

  district: os.route({ method: 'GET', path: '/districts/{name}' })
    .input(z.object({ name: z.string() }))
    .handler(({ input }) => districts.get(input.name) ?? notFound('district')),

  appraise: os.route({ method: 'POST', path: '/houses/{id}/appraisals' })
    .input(z.object({ id: z.coerce.number().int(), purpose: z.enum(['loan', 'sale', 'tax']) }))
    .handler(async ({ input }) => {
      const house = houses.get(input.id) ?? notFound('house')
      return { house: house.id, purpose: input.purpose, ...await valuers.appraise(house) }
    }),
}

function notFound(what: string): never {
  throw new ORPCError('NOT_FOUND', { message: `no such ${what}` })
}

const handler = new OpenAPIHandler(router)

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.PORT),
  idleTimeout: 120,
  async fetch(request) {
    const { matched, response } = await handler.handle(request, { context: {} })
    return matched ? response : new Response('not found', { status: 404 })
  },
})
process.on('SIGTERM', () => process.exit(0))
