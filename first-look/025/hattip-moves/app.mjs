// Game backend: players look at their games and make moves. All data is in a hosted PostgreSQL.
import { createServer } from "@hattip/adapter-node";
import { createRouter } from "@hattip/router";
import { PrismaPg } from "@prisma/adapter-pg";
import prismaClient from "./generated/index.js";

const [port, databasePort] = process.argv.slice(2).map(Number);
const options = { connectionString: `postgresql://game@127.0.0.1:${databasePort}/game` };
if (process.env.DB_POOL_MAX) options.max = Number(process.env.DB_POOL_MAX);
const prisma = new prismaClient.PrismaClient({
  adapter: new PrismaPg(options),
  transactionOptions: { maxWait: 30_000, timeout: 60_000 },
});

const json = (value, status = 200) =>
  new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json" } });

const app = createRouter();

app.get("/health", async () => {
  await Promise.all(Array.from({ length: 10 }, () => prisma.player.count()));
  return json({ ok: true });
});

app.get("/rules", async () => json({ board: 64, players: 2, clock: "5+3" }));

app.get("/games/:id", async (context) => {
  const id = Number(context.params.id);
  const game = await prisma.game.findUnique({ where: { id } });
  return game ? json(game) : json({ error: "no such game" }, 404);
});

app.post("/games/:id/moves", async (context) => {
  const id = Number(context.params.id);
  const { square } = await context.request.json();
  const result = await prisma.$transaction(async (tx) => {
    const [game] = await tx.$queryRaw`SELECT id, player_id, board, turn FROM game WHERE id = ${id} FOR UPDATE`;
    if (!game) return null;
    const player = await tx.player.findUnique({ where: { id: game.player_id } });
    const last = await tx.move.findFirst({ where: { gameId: id }, orderBy: { turn: "desc" } });
    const at = (square + (last?.square ?? 0)) % 64;
    const board = game.board.slice(0, at) + (game.turn % 2 ? "o" : "x") + game.board.slice(at + 1);
    await tx.move.createMany({ data: [{ gameId: id, turn: game.turn + 1, square: at }] });
    await tx.game.updateMany({ where: { id }, data: { board, turn: game.turn + 1 } });
    await tx.player.updateMany({ where: { id: player.id }, data: { rating: 1000 + ((player.rating + 1) % 900) } });
    return { game: id, turn: game.turn + 1, square: at, board };
  });
  return result ? json(result, 201) : json({ error: "no such game" }, 404);
});

if (process.env.TRACE) {
  setInterval(() => {
    const pool = globalThis.tracedPool;
    if (pool) console.error(`pool: total ${pool.totalCount} idle ${pool.idleCount} waiting ${pool.waitingCount}`);
  }, 500).unref();
  const { default: pg } = await import("pg");
  const connect = pg.Pool.prototype.connect;
  pg.Pool.prototype.connect = function (...rest) {
    globalThis.tracedPool = this;
    return connect.apply(this, rest);
  };
}

const server = createServer(app.buildHandler());
server.keepAliveTimeout = 65_000;
server.listen(port, "127.0.0.1");
