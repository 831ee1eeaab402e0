import { Configuration } from '@tsed/di';
import '@tsed/platform-express';
import { PlatformExpress } from '@tsed/platform-express';
import { Exhibits } from './exhibits';

declare const process: any;

@Configuration({
  httpPort: `127.0.0.1:${process.env.PORT}`,
  httpsPort: false,
  acceptMimes: ['application/json'],
  logger: { level: 'warn', logRequest: false },
  mount: { '/': [Exhibits] },
})
class Server {}

PlatformExpress.bootstrap(Server, {}).then((platform) => platform.listen());
process.on('SIGTERM', () => process.exit(0));
