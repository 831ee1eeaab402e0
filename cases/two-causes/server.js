// An event loop with the faults that its command line names: server.js PORT FAULT...
// Prints at its end how long requests waited for each of them, in seconds, as it saw it itself.
'use strict';
const http = require('http');

const [port, ...faults] = process.argv.slice(2);
const has = (fault) => faults.includes(fault);
const truth = Object.fromEntries(faults.map((fault) => [fault, 0]));
const now = () => performance.now();
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const cache = new Map();
let served = 0;

function compute(ms) {
  const began = now();
  while (now() - began < ms);
}

async function waited(fault, work) {
  const began = now();
  await work();
  truth[fault] += (now() - began) / 1000;
}

const server = http.createServer(async (request, response) => {
  const own = ++served;
  if (has('blocks') && request.url.startsWith('/report')) {
    compute(50);
  } else {
    if (has('sleep') && own % 15 === 0) await waited('sleep', () => sleep(90));
    if (has('expiry') && (cache.get(request.url) ?? -1e9) < now() - 1800) {
      await waited('expiry', () => sleep(40 + 30 * Math.random()));
      cache.set(request.url, now());
    }
  }
  response.end('ok');
});
process.on('SIGTERM', () => {
  console.log(JSON.stringify(truth));
  process.exit(0);
});
server.listen(Number(port), '127.0.0.1');
