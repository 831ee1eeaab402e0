import { Provide, Scope, ScopeEnum } from '@midwayjs/core';
import knex, { Knex } from 'knex';

@Provide()
@Scope(ScopeEnum.Singleton)
export class Db {
  readonly q: Knex = knex({
    client: 'pg',
    connection: { host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'postgres', database: 'parking' },
    pool: { min: 24, max: 24 },
  });
}
