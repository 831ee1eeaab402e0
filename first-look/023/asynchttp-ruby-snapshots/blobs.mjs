// The blob store (object storage elsewhere): GET /blobs/ID answers after 50 ms with a block of 16 KB.
import http from "node:http";

const [port, delay] = process.argv.slice(2).map(Number);
const words = ["pump", "valve", "gasket", "rotor", "flange", "bearing", "seal", "nozzle", "piston", "spring"];

http.createServer((req, res) => {
  let x = 17;
  for (const c of req.url) x = (x * 31 + c.charCodeAt(0)) >>> 0;
  const lines = [];
  for (let i = 0; i < 260; i++) {
    const line = [i];
    for (let j = 0; j < 8; j++) line.push(words[(x = (x * 1103515245 + 12345) >>> 0) % words.length]);
    lines.push(line.join(" "));
  }
  setTimeout(() => {
    res.writeHead(200, { "content-type": "text/plain" });
    res.end(lines.join("\n"));
  }, delay);
}).listen(port, "127.0.0.1");
