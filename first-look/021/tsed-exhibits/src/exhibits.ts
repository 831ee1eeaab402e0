import { Controller, Inject } from '@tsed/di';
import { NotFound } from '@tsed/exceptions';
import { PathParams, QueryParams } from '@tsed/platform-params';
import { Get } from '@tsed/schema';
import { Exhibit } from './models';
import { Views } from './views';

declare const process: any;

@Controller('/')
export class Exhibits {
  @Inject()
  views!: Views;

  @Get('/exhibits/:id')
  async exhibit(@PathParams('id') id: number) {
    const t = Date.now();
    const exhibit = await Exhibit.query().findById(id).withGraphJoined('artist');
    if (!exhibit) throw new NotFound('no such exhibit');
    const u = Date.now();
    await this.views.add(exhibit.id);
    if (process.env.APP_LOG) console.log(`exhibit select=${u - t} views=${Date.now() - u}`);
    return exhibit.toJSON();
  }

  @Get('/rooms')
  async rooms(@QueryParams('room') room: string) {
    const rows = await Exhibit.query().select('id', 'title').where('room', room).orderBy('id').limit(12);
    return { room, exhibits: rows.map((r) => r.toJSON()) };
  }

  @Get('/health')
  async health() {
    await Exhibit.query().findById(1);
    return { ok: true };
  }
}
