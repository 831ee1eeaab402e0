import { Configuration } from '@midwayjs/core';
import * as koa from '@midwayjs/koa';
import { Boards } from './boards';

@Configuration({
  imports: [koa],
  importConfigs: [{
    default: {
      keys: 'parking',
      koa: { port: Number(process.env.PORT), hostname: '127.0.0.1' },
      midwayLogger: { default: { transports: { file: false, error: false, json: false }, level: 'warn' } },
    },
  }],
})
export class MainConfiguration {
  async onReady(container: any) {
    const boards = await container.getAsync(Boards);
    boards.start();
  }
}
