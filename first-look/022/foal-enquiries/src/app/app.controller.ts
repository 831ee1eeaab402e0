import { controller } from '@foal/core';
import { DepartmentsController } from './departments.controller';
import { EnquiriesController } from './enquiries.controller';

export class AppController {
  subControllers = [
    controller('/departments', DepartmentsController),
    controller('/enquiries', EnquiriesController),
  ];
}
