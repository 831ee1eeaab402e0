import { App } from '@tinyhttp/app';
import { Piscina } from 'piscina';

const pool = new Piscina({
  filename: new URL('./render.mjs', import.meta.url).href,
  minThreads: Number(process.env.THREADS || 2),
  maxThreads: Number(process.env.THREADS || 2),
});
const app = new App();

app.get('/health', (_, res) => res.send('ok'));
app.get('/stats', (_, res) => res.json({ waitTime: pool.waitTime, runTime: pool.runTime, queueSize: pool.queueSize }));

app.get('/avatars/:id', async (req, res) => {
  const png = await pool.run({ id: Number(req.params.id), side: 64, passes: 1 });
  res.set('Content-Type', 'application/octet-stream').send(Buffer.from(png));
});

app.get('/albums/:id', async (req, res) => {
  const pages = await Promise.all([0, 1, 2, 3].map((n) => pool.run({ id: Number(req.params.id) * 4 + n, side: 512, passes: 6 })));
  res.json({ id: req.params.id, pages: pages.map((p) => p.length) });
});

await Promise.all([1, 2, 3, 4].map((id) => pool.run({ id, side: 512, passes: 2 })));
const server = app.listen(Number(process.argv[2]), undefined, '127.0.0.1');
server.keepAliveTimeout = 65_000;
