// the kitchens' planning system: puts a town's menu of the month together in 50 to 80 ms
import http from "node:http";
http.createServer((req, res) => {
  const town = new URL(req.url, "http://x").searchParams.get("town") || "";
  const dishes = Array.from({ length: 180 }, (_, i) => ({ day: 1 + i / 6 | 0, name: `dish ${i} of ${town}`, price: 4 + i * 7 % 50 / 10, note: "may contain traces of nuts" }));
  const out = JSON.stringify({ town, dishes });
  setTimeout(() => {
    res.writeHead(200, { "content-type": "application/json", "content-length": out.length });
    res.end(out);
  }, 50 + Math.random() * 30);
}).listen(Number(process.argv[2]), "127.0.0.1");
