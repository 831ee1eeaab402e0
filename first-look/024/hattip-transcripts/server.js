// Transcripts of the meetings of a council. Speeches are documents; a document becomes a model when it is read.
import { createServer } from "@hattip/adapter-node";
import { createRouter } from "@hattip/router";
import { json } from "@hattip/response";
import pg from "pg";
import { deserialize, Speech } from "./models.js";

const pool = new pg.Pool({
  host: "127.0.0.1", port: Number(process.env.DB_PORT), user: "council", database: "council", max: 10,
});

const find = async (where, values) => {
  const { rows } = await pool.query(`SELECT id, doc FROM speeches WHERE ${where} ORDER BY id`, values);
  return deserialize(Speech, rows);
};

const app = createRouter();

app.get("/speeches/:id", async (context) => {
  const [speech] = await find("id = $1", [Number(context.params.id)]);
  return speech ? json(speech.summary()) : json({ error: "no such speech" }, { status: 404 });
});

// who spoke for how long in a meeting
app.get("/meetings/:id/shares", async (context) => {
  const shares = new Map();
  for (const speech of await find("meeting = $1", [Number(context.params.id)])) {
    shares.set(speech.speaker, (shares.get(speech.speaker) ?? 0) + speech.seconds());
  }
  return json([...shares].sort((a, b) => b[1] - a[1]).map(([speaker, seconds]) => ({ speaker, seconds })));
});

app.get("/health", async () => {
  const { rows } = await pool.query("SELECT count(*)::int AS n FROM speeches");
  return json({ speeches: rows[0].n });
});

const server = createServer(app.buildHandler());
server.keepAliveTimeout = 75000;
server.listen(Number(process.env.PORT), "127.0.0.1");
