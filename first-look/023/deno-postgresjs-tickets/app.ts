// Seats of a concert hall: Deno.serve with postgres.js (npm:postgres).
import postgres from "postgres";

const sql = postgres({
  host: "127.0.0.1",
  port: Number(Deno.env.get("DB_PORT")),
  user: "tickets",
  database: "tickets",
  max: 8,
});

const json = (body: unknown, status = 200) => Response.json(body, { status });

async function event(id: number): Promise<Response> {
  const [row] = await sql`select id, title, hall, starts_at from events where id = ${id}`;
  if (!row) return json({ error: "no such event" }, 404);
  const zones = await sql`
    select zone, count(*) filter (where buyer is null)::int as free, min(price)::int as from_price
    from seats where event_id = ${id} group by zone order by zone`;
  return json({ ...row, zones });
}

// Holds of this instance end after two minutes; the board in the hall shows how many there are.
const held = new Map<string, number>();
let board = 0;
setInterval(() => {
  const old = Date.now() - 120_000;
  for (const [key, at] of held) if (at < old) held.delete(key);
  board = held.size;
}, 250);

async function hold(id: number, seat: number): Promise<Response> {
  const rows = await sql`
    update seats set holds = holds + 1 where event_id = ${id} and number = ${seat} returning number, zone, price`;
  if (!rows.length) return json({ error: "no such seat" }, 404);
  held.set(`${id}/${seat}`, Date.now());
  return json({ ...rows[0], board });
}

Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.env.get("PORT")) }, async (req) => {
  const url = new URL(req.url);
  if (url.pathname === "/health") return new Response("ok");
  const m = /^\/events\/(\d+)(?:\/seats\/(\d+)\/hold)?$/.exec(url.pathname);
  if (!m) return json({ error: "not found" }, 404);
  return m[2] ? await hold(Number(m[1]), Number(m[2])) : await event(Number(m[1]));
});
