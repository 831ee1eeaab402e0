'use strict';
// worker.js PORT REDIS_PORT RESCHEDULES: runs flows. One flow has a subflow that schedules its steps anew.
// RESCHEDULES=always is the runaway: each pass of the subflow schedules the next at once, with all its steps.
const net = require('net');
const { Queue, Worker } = require('bullmq');
const Redis = require('ioredis');

const [port, redisPort, reschedules] = process.argv.slice(2);
const options = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null };
const redis = new Redis(options);
const runs = new Queue('runs', { connection: new Redis(options) });
const subflows = new Queue('subflows', { connection: new Redis(options) });

new Worker('runs', async (job) => {
  await redis.multi().hset(`flow:${job.data.flow}`, 'last', Date.now()).hincrby(`flow:${job.data.flow}`, 'runs', 1).exec();
}, { connection: new Redis(options), concurrency: 5 });

new Worker('subflows', async (job) => {
  if (job.name !== 'subflow') return;
  const steps = reschedules === 'always' ? 2000 : 5;
  await subflows.addBulk(Array.from({ length: steps }, (_, step) => (
    { name: 'step', data: { pass: job.data.pass, step }, opts: { delay: 600000, removeOnComplete: true } })));
  await subflows.add('subflow', { pass: job.data.pass + 1 },
    { delay: reschedules === 'always' ? 0 : 1000, removeOnComplete: true });
}, { connection: new Redis(options), concurrency: 1 });

subflows.add('subflow', { pass: 0 }, { removeOnComplete: true })
  .then(() => net.createServer((socket) => socket.destroy()).listen(Number(port), '127.0.0.1'));
