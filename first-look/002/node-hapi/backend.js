import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

http.createServer(async (req, res) => {
  await pause(req.url.startsWith('/statement') ? 200 : 3);
  const body = JSON.stringify({ price: 12.5, path: req.url });
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  res.end(body);
}).listen(process.argv[2], '127.0.0.1');
