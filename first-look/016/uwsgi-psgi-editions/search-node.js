// Stands in for an Elasticsearch node: index "titles" with get and search.
const http = require('http');
const url = require('url');
const titles = [];
for (let i = 0; i < 1500; i++) {
  titles.push({ id: i, work: `work${i % 300}`, title: `Title ${i}`, year: 1950 + (i % 70), in_print: i % 7 !== 0, shelf: `S${i % 40}` });
}
function send(res, code, data) {
  const body = JSON.stringify(data);
  res.writeHead(code, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch', 'content-length': Buffer.byteLength(body) });
  res.end(body);
}
const server = http.createServer((req, res) => {
  let body = '';
  req.on('data', (d) => { body += d; });
  req.on('end', () => {
    const u = url.parse(req.url, true);
    let m = /^\/titles\/_doc\/(\d+)$/.exec(u.pathname);
    if (m && titles[m[1]]) return send(res, 200, { _index: 'titles', _id: m[1], found: true, _source: titles[m[1]] });
    if (u.pathname === '/titles/_search') {
      const q = JSON.parse(body || u.query.source);
      const work = q.query.bool.must[0].match.work;
      const hits = titles.filter((t) => t.work === work && t.in_print).slice(0, q.size);
      return send(res, 200, { took: 1, timed_out: false, hits: { total: { value: hits.length }, hits: hits.map((t) => ({ _index: 'titles', _id: String(t.id), _source: t })) } });
    }
    if (u.pathname === '/') return send(res, 200, { name: 'node1', version: { number: '8.4.0' }, tagline: 'You Know, for Search' });
    return send(res, 404, { error: 'not found' });
  });
});
server.keepAliveTimeout = 120000;
server.listen(Number(process.argv[2]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
