// link.mjs PORT DB_PORT: the way to the hosted database. It passes everything on, each way after half
// of the round trip between the game's region and the database's.
import net from "node:net";

const [port, target] = process.argv.slice(2).map(Number);
const half = Number(process.env.RTT_MS ?? 14) / 2;

function line(from, to) {
  from.on("data", (chunk) => setTimeout(() => to.writable && to.write(chunk), half));
  from.on("end", () => setTimeout(() => to.end(), half));
  from.on("error", () => to.destroy());
  from.on("close", () => setTimeout(() => to.destroy(), half));
}

net
  .createServer({ noDelay: true }, (game) => {
    const database = net.connect({ port: target, host: "127.0.0.1", noDelay: true });
    line(game, database);
    line(database, game);
  })
  .listen(port, "127.0.0.1");
