const http = require('http')
const crypto = require('crypto')
const rounds = Number(process.env.ROUNDS || 100000)
const prices = `http://localhost:${process.env.PRICES_PORT}/price`
const agent = new http.Agent({ keepAlive: false })

function login (req, res) {
  crypto.pbkdf2('correct horse', 'salt-of-user', rounds, 64, 'sha512', (err, key) => {
    res.statusCode = err ? 500 : 200
    res.end(key ? key.toString('hex') : String(err))
  })
}

function price (req, res) {
  http.get(prices, { agent, family: 4 }, up => {
    let body = ''
    up.on('data', d => { body += d })
    up.on('end', () => res.end(body))
  }).on('error', e => { res.statusCode = 502; res.end(String(e)) })
}

http.createServer((req, res) => {
  if (req.url === '/login') return login(req, res)
  if (req.url === '/price') return price(req, res)
  res.end('ok')
}).listen(Number(process.argv[2]), '127.0.0.1')
