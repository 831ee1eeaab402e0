import { dependency } from '@foal/core';
import { Department } from './departments.service';
import { Mail } from './mail.service';

export interface Enquiry { number: number; customer: number; text: string; received: string; }

const PER_MESSAGE = 5;

export class Digests {
  @dependency
  mail: Mail;

  private next = 1;
  private readonly pending = new Map<string, Enquiry[]>();
  private readonly recent = new Map<string, Enquiry[]>();

  latest(code: string): Enquiry[] { return this.recent.get(code) ?? []; }

  async add(department: Department, customer: number, text: string): Promise<Enquiry> {
    const enquiry = { number: this.next++, customer, text, received: new Date().toISOString() };
    const recent = this.recent.get(department.code) ?? [];
    recent.unshift(enquiry);
    this.recent.set(department.code, recent.slice(0, 10));

    const pending = this.pending.get(department.code) ?? [];
    pending.push(enquiry);
    this.pending.set(department.code, pending);
    if (pending.length >= PER_MESSAGE) {
      this.pending.set(department.code, []);
      await this.mail.digest(department.mailbox, department.name, pending);
    }
    return enquiry;
  }
}
