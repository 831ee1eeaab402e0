// search over a shop's catalogue, held in memory
import { createRequire } from 'node:module';
const require = createRequire(process.env.NODE_MODULES + '/');
const MiniSearch = require('minisearch');
const { serve } = await import(process.env.NODE_MODULES + '/srvx/dist/adapters/node.mjs');

const kinds = ['lamp', 'table', 'chair', 'shelf', 'carpet', 'mirror', 'sofa', 'desk'];
const looks = ['oak', 'steel', 'walnut', 'linen', 'glass', 'brass', 'marble', 'cotton', 'birch', 'wool'];
const places = ['garden', 'kitchen', 'hall', 'office', 'bath', 'bedroom', 'cellar'];

const docs = new Map();
const search = new MiniSearch({ fields: ['title', 'series'], storeFields: ['title', 'cents'] });
const N = Number(process.env.DOCS);
for (let i = 0; i < N; i++) {
  const doc = {
    id: i,
    title: `${looks[i % 10]} ${kinds[(i >> 3) % 8]} ${places[i % 7]}`,
    series: `s${(i * 7919) % 3001}`,
    cents: 900 + (i * 53) % 80000,
    tags: [looks[(i * 3) % 10], places[(i * 5) % 7]].map((t) => ({ t })),
  };
  docs.set(i, doc);
  if (i % 8 === 0) search.add(doc);
}

// give memory back: the container is small
const trim = Number(process.env.TRIM_MS || 0);
if (trim && globalThis.gc) setInterval(() => globalThis.gc(), trim);

serve({
  port: Number(process.argv[2]),
  hostname: '127.0.0.1',
  silent: true,
  fetch(req) {
    const url = new URL(req.url);
    if (url.pathname === '/search') {
      return Response.json(search.search(url.searchParams.get('q'), { combineWith: 'AND' }).slice(0, 20));
    }
    if (url.pathname.startsWith('/item/')) {
      return Response.json(docs.get(Number(url.pathname.slice(6))) ?? null);
    }
    return new Response('furniture');
  },
});
