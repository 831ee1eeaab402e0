'use strict';
// Baskets that were paid are marked with a key basket:ID:paid; they are swept away.
const fs = require('fs');

async function find(redis, by) {
  if (by === 'keys') return redis.keys('basket:*:paid');
  const found = [];
  let cursor = '0';
  do {
    const [next, some] = await redis.scan(cursor, 'MATCH', 'basket:*:paid', 'COUNT', 1500);
    found.push(...some);
    cursor = next;
  } while (cursor !== '0');
  return found;
}

module.exports = {
  schedule: { interval: '900ms', type: 'worker' },
  async task(ctx) {
    const { redis, config } = ctx.app;
    const t0 = process.hrtime.bigint();
    for (const key of await find(redis, config.sweep.by)) {
      await redis.del(key, key.slice(0, -':paid'.length));
    }
    if (process.env.BASKETS_TRACE) {
      const t1 = process.hrtime.bigint();
      fs.appendFileSync(process.env.BASKETS_TRACE, `render ${Number(t0) / 1e9} ${Number(t1) / 1e9}\n`);
    }
  },
};
