import { sql } from 'drizzle-orm'
import { database } from '../../../lib/db.js'
export const dynamic = 'force-dynamic'

export async function GET() {
  await database().db.execute(sql`select 1`)
  return Response.json({ ok: true })
}
