import { Body, Controller, Get, Inject, Param, Post } from '@midwayjs/core';
import { Context } from '@midwayjs/koa';
import { Db } from './db';

@Controller('/')
export class GarageController {
  @Inject()
  ctx: Context;

  @Inject()
  db: Db;

  @Get('/garages/:id/occupancy')
  async occupancy(@Param('id') id: string) {
    const t = Date.now();
    const rows = await this.db.q('occupancy').where({ garage_id: Number(id) }).orderBy('level');
    if (process.env.APP_LOG) console.log(`occupancy from=${t} to=${Date.now()}`);
    if (!rows.length) {
      this.ctx.status = 404;
      return { error: 'no such garage' };
    }
    return { garage: Number(id), levels: rows };
  }

  @Get('/garages/:id')
  async garage(@Param('id') id: string) {
    const row = await this.db.q('garages').where({ id: Number(id) }).first();
    if (!row) {
      this.ctx.status = 404;
      return { error: 'no such garage' };
    }
    return row;
  }

  @Post('/barriers/:id')
  async barrier(@Param('id') id: string, @Body() body: { ticket: number; level: number }) {
    await this.db.q('movements').insert({ garage_id: Number(id), level: body.level, ticket: body.ticket, entered: true });
    return { open: true, ticket: body.ticket };
  }

  @Get('/health')
  async health() {
    await this.db.q('occupancy').count('* as n').first();
    return { ok: true };
  }
}
