const http = require('node:http');

http.createServer((req, res) => {
  const send = () => {
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify([{ sku: 'a1', price: 10 }, { sku: 'b2', price: 12 }]));
  };
  if (Math.random() < 0.1) setTimeout(send, 4000);
  else send();
}).listen(Number(process.argv[2]), '127.0.0.1');
