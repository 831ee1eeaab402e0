import { Bootstrap } from '@midwayjs/bootstrap';

declare const process: any, __dirname: string;
Bootstrap.configure({ appDir: __dirname + '/..' }).run();
process.on('SIGTERM', () => process.exit(0));
