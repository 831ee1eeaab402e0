'use strict'
// The company's registry in the other data centre: package documents and
// tarballs over the npm protocol, each answer after LATENCY_MS.
const http = require('http')
const zlib = require('zlib')
const crypto = require('crypto')

const port = Number(process.argv[2])
const latency = Number(process.env.LATENCY_MS || 70)

function tarball (name, version) {
  const body = Buffer.from(JSON.stringify({ name, version, main: 'index.js' }))
  const h = Buffer.alloc(512)
  h.write('package/package.json', 0)
  h.write('0000644\0', 100); h.write('0000000\0', 108); h.write('0000000\0', 116)
  h.write(body.length.toString(8).padStart(11, '0') + '\0', 124)
  h.write('00000000000\0', 136); h.write('        ', 148); h.write('0', 156)
  h.write('ustar\x0000', 257)
  let sum = 0
  for (const b of h) sum += b
  h.write(sum.toString(8).padStart(6, '0') + '\0 ', 148)
  const pad = Buffer.alloc((512 - body.length % 512) % 512 + 1024)
  return zlib.gzipSync(Buffer.concat([h, body, pad]))
}

const names = ['ui-buttons', 'ui-tables', 'date-tools', 'tax-rules', 'http-kit', 'form-check']
const packages = new Map()
for (const name of names) {
  const versions = {}
  const time = { created: '2023-01-02T08:00:00.000Z', modified: '2024-06-03T08:00:00.000Z' }
  const files = new Map()
  for (let i = 0; i < 8; i++) {
    const v = `1.${i}.0`
    const tgz = tarball(name, v)
    files.set(`${name}-${v}.tgz`, tgz)
    versions[v] = {
      name, version: v, main: 'index.js', license: 'MIT', description: `${name} of the company`,
      dist: {
        tarball: `http://127.0.0.1:${port}/${name}/-/${name}-${v}.tgz`,
        shasum: crypto.createHash('sha1').update(tgz).digest('hex')
      }
    }
    time[v] = `2023-0${i + 1}-02T08:00:00.000Z`
  }
  const doc = JSON.stringify({ _id: name, _rev: '1-0', name, 'dist-tags': { latest: '1.7.0' }, versions, time, readme: '' })
  packages.set(name, { doc, files, etag: '"' + crypto.createHash('md5').update(doc).digest('hex') + '"' })
}

const server = http.createServer((req, res) => setTimeout(() => {
  const [, name, dash, file] = req.url.split('?')[0].split('/')
  const p = packages.get(name)
  if (!p) { res.writeHead(404, { 'Content-Type': 'application/json' }); return res.end('{"error":"not found"}') }
  if (dash) {
    const t = p.files.get(file)
    res.writeHead(t ? 200 : 404, { 'Content-Type': 'application/octet-stream' })
    return res.end(t)
  }
  if (req.headers['if-none-match'] === p.etag) { res.writeHead(304, { ETag: p.etag }); return res.end() }
  res.writeHead(200, { 'Content-Type': 'application/json', ETag: p.etag })
  res.end(p.doc)
}, latency))
server.keepAliveTimeout = 75000
server.listen(port, '127.0.0.1')
