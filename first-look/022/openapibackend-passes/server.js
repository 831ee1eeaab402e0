// Passes of a trade fair. The entry code of a pass changes every few seconds; the QR code is drawn by the print room's
// converter, which takes jobs from a hot folder and lays the drawings into another one.
import http from 'node:http';
import fs from 'node:fs';
import { createHmac } from 'node:crypto';
import path from 'node:path';
import { OpenAPIBackend } from 'openapi-backend';
import { loadPasses, gates } from './data.js';
import { HotFolder } from './hotfolder.js';

const VALID_MS = 7000;
const folder = new HotFolder(process.env.HOT_FOLDER);
const passes = loadPasses();
const codes = new Map();      // id -> { svg, from }
const drawing = new Map();    // id -> promise

function text(id, now) {
  return `${id}.${Math.floor(now / 1000)}.` + createHmac('sha256', 'fair-2024').update(`${id}.${now}`).digest('base64url').slice(0, 20);
}

function draw(id, age = 0) {
  let p = drawing.get(id);
  if (!p) {
    const now = Date.now();
    p = folder.convert(id, { text: text(id, now), title: `Pass ${id}` }).then(svg => {
      const code = { svg, from: now - age };
      codes.set(id, code);
      return code;
    }).finally(() => drawing.delete(id));
    drawing.set(id, p);
  }
  return p;
}

function json(res, status, body) {
  const text = JSON.stringify(body);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  res.end(text);
}

const api = new OpenAPIBackend({
  definition: JSON.parse(fs.readFileSync(new URL('./openapi.json', import.meta.url), 'utf8')),
  handlers: {
    health: (c, req, res) => json(res, 200, { passes: passes.size }),
    getPass: (c, req, res) => {
      const pass = passes.get(c.request.params.id);
      return pass ? json(res, 200, pass) : json(res, 404, { error: 'no such pass' });
    },
    getCode: async (c, req, res) => {
      const id = c.request.params.id;
      if (!passes.has(id)) return json(res, 404, { error: 'no such pass' });
      let code = codes.get(id);
      if (!code || Date.now() - code.from > VALID_MS) code = await draw(id);
      res.writeHead(200, { 'content-type': 'image/svg+xml', 'cache-control': 'no-store', 'content-length': code.svg.length });
      res.end(code.svg);
    },
    getGate: (c, req, res) => json(res, 200, gates[c.request.params.gate]),
    validationFail: (c, req, res) => json(res, 400, { errors: c.validation.errors }),
    notFound: (c, req, res) => json(res, 404, { error: 'not found' }),
  },
});
await api.init();
await folder.open();
await Promise.all([...passes.keys()].map(id => draw(id, Math.random() * VALID_MS)));

const server = http.createServer((req, res) => {
  api.handleRequest({ method: req.method, path: req.url.split('?')[0], query: req.url.split('?')[1] ?? '', headers: req.headers }, req, res)
    .catch(err => { console.error(err); if (!res.headersSent) json(res, 500, { error: 'internal' }); });
});
server.keepAliveTimeout = 65_000;
server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('passes on', process.env.PORT));
process.on('SIGTERM', () => process.exit(0));
