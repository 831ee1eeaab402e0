import { appendFileSync } from 'node:fs'
import { json } from '@sveltejs/kit'
import { db } from '$lib/server/db'
import { bids } from '$lib/server/schema'

export async function POST({ params, request }) {
  const lotId = Number(params.id)
  const { bidder, amount } = await request.json()
  const started = performance.now()
  const [bid] = await db.insert(bids).values({ lotId, bidder, amount }).returning({ id: bids.id, at: bids.at })
  // our own check: milliseconds of the INSERT
  if (process.env.TRACE_BIDS) appendFileSync(process.env.TRACE_BIDS, `${performance.now() - started}\n`)
  return json({ lot: lotId, ...bid }, { status: 201 })
}
