const { initTRPC } = require('@trpc/server');
const { createHTTPServer } = require('@trpc/server/adapters/standalone');
const { z } = require('zod');
const Redis = require('ioredis');

const redis = new Redis({ host: '127.0.0.1', port: Number(process.env.REDIS_PORT) });
const t = initTRPC.create();

const router = t.router({
  profile: t.procedure.input(z.number()).query(async ({ input }) => redis.hgetall(`profile:${input}`)),
  online: t.procedure.input(z.number()).query(async ({ input }) => {
    const sessions = await redis.keys(`session:${input}:*`);
    return { tenant: input, online: sessions.length };
  }),
  health: t.procedure.query(() => 'ok'),
});

const { server, listen } = createHTTPServer({ router });
server.keepAliveTimeout = 65000;
listen(Number(process.env.PORT), '127.0.0.1');
