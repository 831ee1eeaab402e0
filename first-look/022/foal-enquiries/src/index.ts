import * as http from 'http';
import { createApp } from '@foal/core';
import { AppController } from './app/app.controller';

async function main() {
  const app = await createApp(AppController);
  const server = http.createServer(app);
  server.keepAliveTimeout = 65_000;
  server.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('enquiries are open'));
  process.on('SIGTERM', () => process.exit(0));
}

main().catch(err => { console.error(err); process.exit(1); });
