import { Inject, Provide, Scope, ScopeEnum } from '@midwayjs/core';
import { Db } from './db';

/** Keeps the occupancy figures (a materialized view) fresh for the street signs. */
@Provide()
@Scope(ScopeEnum.Singleton)
export class Boards {
  @Inject()
  db: Db;

  start() {
    const statement = process.env.REFRESH === 'concurrently'
      ? 'REFRESH MATERIALIZED VIEW CONCURRENTLY occupancy'
      : 'REFRESH MATERIALIZED VIEW occupancy';
    const again = async () => {
      const t = Date.now();
      try {
        await this.db.q.raw(statement);
      } catch (e) {
        console.error(e.message);
      }
      if (process.env.APP_LOG) console.log(`refresh from=${t} to=${Date.now()}`);
      setTimeout(again, 700);
    };
    again();
  }
}
