import { error, json } from '@sveltejs/kit'
import { desc, eq } from 'drizzle-orm'
import { db } from '$lib/server/db'
import { bids, lots } from '$lib/server/schema'

export async function GET({ params }) {
  const id = Number(params.id)
  const [lot] = await db.select().from(lots).where(eq(lots.id, id))
  if (!lot) error(404, 'no such lot')
  const highest = await db
    .select({ amount: bids.amount, bidder: bids.bidder })
    .from(bids)
    .where(eq(bids.lotId, id))
    .orderBy(desc(bids.amount))
    .limit(5)
  return json({ ...lot, highest })
}
