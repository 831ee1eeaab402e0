import { Context, dependency, Get, HttpResponseCreated, HttpResponseNotFound, HttpResponseOK, Post, ValidateBody } from '@foal/core';
import { Departments } from './departments.service';
import { Digests } from './digests.service';

export class EnquiriesController {
  @dependency
  departments: Departments;

  @dependency
  digests: Digests;

  @Get('/latest/:code')
  latest(ctx: Context<any, { code: string }>) {
    return new HttpResponseOK(this.digests.latest(ctx.request.params.code));
  }

  // A department gets its enquiries by mail, five to a message.
  @Post('/:code')
  @ValidateBody({
    type: 'object', required: ['customer', 'text'], additionalProperties: false,
    properties: { customer: { type: 'integer' }, text: { type: 'string', maxLength: 4000 } },
  })
  async create(ctx: Context<any, { code: string }>) {
    const department = this.departments.find(ctx.request.params.code);
    if (!department) { return new HttpResponseNotFound(); }
    const { customer, text } = ctx.request.body;
    const enquiry = await this.digests.add(department, customer, text);
    return new HttpResponseCreated(enquiry);
  }
}
