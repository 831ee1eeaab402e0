import knexFactory from 'knex';
import { Model } from 'objection';

declare const process: any;
export const knex = knexFactory({
  client: 'mysql2',
  connection: { host: '127.0.0.1', port: Number(process.env.DB_PORT), user: 'museum', password: 'museum', database: 'museum' },
  pool: { min: 16, max: 16 },
});
Model.knex(knex);

export class Artist extends Model {
  id!: number;
  name!: string;
  static tableName = 'artists';
}

export class Exhibit extends Model {
  id!: number;
  title!: string;
  room!: string;
  views!: number;
  static tableName = 'exhibits';
  static relationMappings = () => ({
    artist: { relation: Model.BelongsToOneRelation, modelClass: Artist, join: { from: 'exhibits.artist_id', to: 'artists.id' } },
  });
}

export class Visit extends Model {
  id!: number;
  exhibit_id!: number;
  views!: number;
  static tableName = 'visits';
}
