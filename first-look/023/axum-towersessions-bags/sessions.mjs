// The session service of the company: GET, PUT and DELETE /sessions/ID. It is in another region: an
// answer takes SESSION_RTT milliseconds. Sessions of known customers are there from the start.
import http from "node:http";
import { readFileSync } from "node:fs";

const [port, rtt, seed] = process.argv.slice(2);
const sessions = new Map(JSON.parse(readFileSync(seed)).map((s) => [s.id, JSON.stringify(s)]));

http.createServer((req, res) => {
  const id = req.url.split("/")[2];
  const chunks = [];
  req.on("data", (c) => chunks.push(c));
  req.on("end", () => {
    if (req.method === "PUT") sessions.set(id, Buffer.concat(chunks).toString());
    if (req.method === "DELETE") sessions.delete(id);
    const body = req.method === "GET" ? sessions.get(id) : "";
    setTimeout(() => {
      res.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
      res.end(body ?? "");
    }, Number(rtt));
  });
}).listen(Number(port), "127.0.0.1");
