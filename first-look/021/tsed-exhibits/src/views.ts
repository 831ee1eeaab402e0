import { Injectable } from '@tsed/di';
import { Visit } from './models';

declare const process: any;

/** Counts the views of the pages; every seventh view stores what was counted since. */
@Injectable()
export class Views {
  private pending = new Map<number, number>();
  private count = 0;

  async add(id: number) {
    this.pending.set(id, (this.pending.get(id) || 0) + 1);
    if (++this.count % 7) return;
    const counted = [...this.pending];
    this.pending.clear();
    const t = Date.now();
    let u = t;
    await Visit.transaction(async (trx) => {
      await trx(Visit.tableName).insert(counted.map(([exhibit_id, views]) => ({ exhibit_id, views })));
      u = Date.now();
    });
    if (process.env.APP_LOG) console.log(`store inserts=${u - t} commit=${Date.now() - u} at=${t}`);
  }
}
