// the warehouse system behind the gateway; a reservation is confirmed by its conveyor control after a while
const http = require('http');
const stock = new Map();
for (let i = 0; i < 5000; i++) stock.set(String(i), { sku: i, shelf: 'R' + (i % 90), free: i % 17 });

http.createServer((req, res) => {
  const [, what, sku] = req.url.split('/');
  res.setHeader('Content-Type', 'application/json');
  if (what === 'reserve') {
    setTimeout(() => res.end(JSON.stringify({ sku, reserved: 1 })), 180);
  } else {
    res.end(JSON.stringify(stock.get(sku) || {}));
  }
}).listen(Number(process.argv[2]), '127.0.0.1');
