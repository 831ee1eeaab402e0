const http = require('http');
const Redis = require('ioredis');
const router = require('find-my-way')({ defaultRoute: (req, res) => { res.statusCode = 404; res.end(); } });

const redis = new Redis(Number(process.env.REDIS_PORT), '127.0.0.1');

router.on('GET', '/', (req, res) => res.end('jobs\n'));

router.on('GET', '/session/:id', async (req, res, params) => {
  const [user, seen] = await redis.multi().hgetall('session:' + params.id).incr('seen:' + params.id).exec();
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({ user: user[1], seen: seen[1] }));
});

// a worker asks for its next job and is told within a moment that there is none
router.on('GET', '/next/:queue', async (req, res, params) => {
  const job = await redis.blpop('queue:' + params.queue, 0.12);
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({ job: job ? job[1] : null }));
});

(async () => {
  for (let i = 0; i < 20; i++) await redis.hset('session:' + i, { name: 'user ' + i, cart: String(i * 3) });
  http.createServer((req, res) => router.lookup(req, res)).listen(Number(process.env.PORT), '127.0.0.1');
})();
