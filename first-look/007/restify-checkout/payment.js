// the payment provider: takes its time to authorise a card
const http = require('http');
http.createServer((req, res) => {
  setTimeout(() => {
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ authorised: true }));
  }, 160 + Math.random() * 60);
}).listen(Number(process.argv[2]), '127.0.0.1');
