const http = require('http');
const httpProxy = require(process.env.NODE_MODULES + '/http-proxy');

const agent = new http.Agent({ keepAlive: true, maxSockets: Number(process.env.MAX_SOCKETS) });
const proxy = httpProxy.createProxyServer({ target: process.env.BACKEND, agent });
proxy.on('error', (err, req, res) => { res.writeHead(502); res.end(); });

http.createServer((req, res) => {
  if (req.url === '/healthz') return res.end('ok');
  req.headers['x-forwarded-for'] = req.socket.remoteAddress;
  proxy.web(req, res);
}).listen(Number(process.argv[2]), '127.0.0.1');
