import { Context, dependency, Get, HttpResponseNotFound, HttpResponseOK } from '@foal/core';
import { Departments } from './departments.service';

export class DepartmentsController {
  @dependency
  departments: Departments;

  @Get('/')
  all() {
    return new HttpResponseOK(this.departments.list());
  }

  @Get('/:code')
  one(ctx: Context<any, { code: string }>) {
    const d = this.departments.find(ctx.request.params.code);
    return d ? new HttpResponseOK(d) : new HttpResponseNotFound();
  }
}
