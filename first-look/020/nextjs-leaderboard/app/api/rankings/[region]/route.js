import { eq, asc } from 'drizzle-orm'
import { database, rankings } from '../../../../lib/db.js'
import { timed } from '../../../../lib/timed.js'
export const dynamic = 'force-dynamic'

export async function GET(_request, { params }) {
  const { region } = await params
  const { db } = database()
  const top = await timed('rankings', () => db
    .select({ place: rankings.place, player: rankings.name, best: rankings.best, games: rankings.games })
    .from(rankings)
    .where(eq(rankings.region, region))
    .orderBy(asc(rankings.place))
    .limit(20))
  return Response.json({ region, top })
}
