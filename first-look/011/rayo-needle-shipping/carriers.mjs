// the carriers' rate desk, which closes the connection after each answer; with argument 3 = "stuck" parcels over 27.5 kg wait for a person's answer
import http from "node:http";
http.createServer((req, res) => {
  const grams = Number(new URL(req.url, "http://x").searchParams.get("grams"));
  const out = JSON.stringify({ price: 3 + grams / 900 });
  const reply = () => {
    res.writeHead(200, { "content-type": "application/json", "content-length": out.length, connection: "close" });
    res.end(out);
  };
  setTimeout(reply, process.argv[3] === "stuck" && grams > 27500 ? 4000 : 2);
}).listen(Number(process.argv[2]), "127.0.0.1");
