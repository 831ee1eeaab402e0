'use strict';
// Flow service: starts runs of flows (queued with BullMQ), tells their state, lists the pieces. Every
// request for a flow is counted by the rate limiter, in the Redis that the queue has too.
const http = require('http');
const { Router } = require('director').http;
const Redis = require('ioredis');
const { Queue } = require('bullmq');
const { RateLimiterRedis } = require('rate-limiter-flexible');

const redis = new Redis({ host: '127.0.0.1', port: Number(process.env.REDIS_PORT), maxRetriesPerRequest: null });
const runs = new Queue('runs', { connection: redis });
const limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: 'limit', points: 100000, duration: 60 });
const pieces = Array.from({ length: 80 }, (_, n) => ({ name: `piece-${n}`, version: `0.${n % 9}.${n % 4}`, actions: 3 + n % 7 }));

function send(res, status, value) {
  const body = JSON.stringify(value);
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  res.end(body);
}

const guarded = (handler) => function (id) {
  const res = this.res;
  limiter.consume(`project-${Number(id) % 20}`)
    .then(() => handler(id))
    .then((value) => send(res, 200, value))
    .catch((why) => send(res, why instanceof Error ? 500 : 429, { error: String(why && why.message) }));
};

async function flow(id) {
  const [last, count] = await redis.pipeline().hget(`flow:${id}`, 'last').hget(`flow:${id}`, 'runs').exec();
  return { flow: id, last: last[1], runs: Number(count[1] || 0) };
}

async function start(id) {
  const job = await runs.add('run', { flow: id, at: Date.now() }, { removeOnComplete: true, attempts: 2 });
  return { flow: id, run: job.id };
}

const router = new Router({
  '/flows/:id': { get: guarded(flow) },
  '/flows/:id/runs': { post: guarded(start) },
  '/pieces': { get: function () { send(this.res, 200, pieces); } },
  '/health': { get: function () { redis.ping().then(() => send(this.res, 200, 'ok'), () => send(this.res, 503, 'no')); } },
}).configure({ async: false });

http.createServer((req, res) => {
  req.chunks = [];
  router.dispatch(req, res, (err) => { if (err) send(res, 404, { error: 'no such path' }); });
}).listen(Number(process.env.PORT), '127.0.0.1');
