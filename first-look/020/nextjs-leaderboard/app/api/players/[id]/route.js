import { eq, desc } from 'drizzle-orm'
import { database, players, scores } from '../../../../lib/db.js'
import { timed } from '../../../../lib/timed.js'
export const dynamic = 'force-dynamic'

export async function GET(_request, { params }) {
  const id = Number((await params).id)
  const { db } = database()
  const [player] = await timed('player', () => db.select().from(players).where(eq(players.id, id)))
  if (!player) return Response.json({ error: 'no such player' }, { status: 404 })
  const last = await timed('last', () => db
    .select({ level: scores.level, points: scores.points, played: scores.played })
    .from(scores).where(eq(scores.playerId, id)).orderBy(desc(scores.id)).limit(5))
  return Response.json({ ...player, last })
}
