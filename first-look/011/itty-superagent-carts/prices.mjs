// the pricing service, a program of another team: a price takes it about 4 ms, a list of them 3 ms
import http from "node:http";
const price = (sku) => (Number(sku.slice(1)) * 37 % 5000) / 100 + 1;
http.createServer((req, res) => {
  const url = new URL(req.url, "http://x");
  const one = url.pathname.startsWith("/price/");
  const body = one ? { price: price(url.pathname.slice(7)) } : { prices: (url.searchParams.get("skus") || "A1").split(",").map(price) };
  setTimeout(() => {
    const out = JSON.stringify(body);
    res.writeHead(200, { "content-type": "application/json", "content-length": out.length });
    res.end(out);
  }, one ? 4 : 3);
}).listen(Number(process.argv[2]), "127.0.0.1");
