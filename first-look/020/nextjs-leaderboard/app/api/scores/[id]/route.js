import { database, scores } from '../../../../lib/db.js'
import { timed } from '../../../../lib/timed.js'
export const dynamic = 'force-dynamic'

export async function POST(request, { params }) {
  const playerId = Number((await params).id)
  const { level, n } = await request.json()
  const points = 100 + (Number(n) * 37) % 900
  const [row] = await timed('score', () => database().db
    .insert(scores).values({ playerId, level: Number(level), points }).returning({ id: scores.id }))
  return Response.json({ id: row.id, points }, { status: 201 })
}
