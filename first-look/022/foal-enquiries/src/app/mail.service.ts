import * as net from 'net';
import * as fs from 'fs';
import * as nodemailer from 'nodemailer';
import type { Enquiry } from './digests.service';

const host = '127.0.0.1';
const port = Number(process.env.SMTP_PORT);
const timing = process.env.TIMING_LOG ? fs.openSync(process.env.TIMING_LOG, 'a') : 0;

export class Mail {
  // The pool keeps its connections to the relay. They leave from the address that the relay's firewall knows.
  private readonly transport = nodemailer.createTransport({
    pool: true, maxConnections: 4, maxMessages: Infinity,
    host, port, ignoreTLS: true, name: 'enquiries.stadtwerke.example',
    getSocket(_options: any, callback: (err: Error | null, socket?: any) => void) {
      const socket = net.connect({
        host, port, localAddress: '127.0.0.1', keepAlive: true,
        noDelay: process.env.SMTP_NODELAY === '1',
      });
      socket.once('error', callback);
      socket.once('connect', () => {
        socket.removeListener('error', callback);
        callback(null, { connection: socket });
      });
    },
  } as any);

  async digest(to: string, name: string, enquiries: Enquiry[]): Promise<void> {
    const start = process.hrtime.bigint();
    await this.transport.sendMail({
      from: 'Enquiries <enquiries@stadtwerke.example>', to,
      subject: `${enquiries.length} new enquiries for ${name}`,
      text: enquiries.map(e => `No. ${e.number} of customer ${e.customer}, ${e.received}\n\n${e.text}\n`).join('\n---\n\n'),
    });
    if (timing) {
      fs.writeSync(timing, `${Date.now()} sendMail ${Number(process.hrtime.bigint() - start) / 1e6}\n`);
    }
  }
}
