'use strict';
const path = require('path');
module.exports = () => ({
  keys: 'baskets-1',
  rundir: path.join(process.env.RUN_DIR, 'run'),
  logger: { dir: path.join(process.env.RUN_DIR, 'logs'), consoleLevel: 'NONE', level: 'WARN' },
  security: { csrf: { enable: false } },
  cluster: { listen: { hostname: '127.0.0.1', port: Number(process.env.PORT) } },
  redis: { client: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), password: '', db: 0 } },
  sweep: { by: process.env.SWEEP_BY },
});
