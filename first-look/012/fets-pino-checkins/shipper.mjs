// reads log lines from its standard input and posts them to the log store, one batch after the other
import http from 'node:http'

const agent = new http.Agent({ keepAlive: true })
const post = body => new Promise(done => {
  const req = http.request({ host: '127.0.0.1', port: Number(process.env.LOGSTORE_PORT), path: '/push', method: 'POST', agent,
    headers: { 'content-length': body.length } }, res => res.resume().on('end', done))
  req.on('error', done)
  req.end(body)
})
for await (const chunk of process.stdin) await post(chunk)
