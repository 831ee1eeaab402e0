import fs from 'node:fs';
import fsp from 'node:fs/promises';
import path from 'node:path';
import chokidar from 'chokidar';

const timing = process.env.TIMING_LOG ? fs.openSync(process.env.TIMING_LOG, 'a') : 0;

export class HotFolder {
  #waiting = new Map();
  #number = 0;

  constructor(dir) {
    this.in = path.join(dir, 'in');
    this.out = path.join(dir, 'out');
  }

  open() {
    // Works on the laptops (Docker) and here: CHOKIDAR_USEPOLLING and CHOKIDAR_INTERVAL are chokidar's own settings.
    this.watcher = chokidar.watch(this.out, { ignoreInitial: true, depth: 0 });
    this.watcher.on('add', file => this.#waiting.get(path.basename(file, '.svg'))?.resolve(file));
    this.watcher.on('error', err => console.error('watch', err));
    return new Promise(resolve => this.watcher.once('ready', resolve));
  }

  async convert(id, job) {
    const name = `${id}-${++this.#number}`;
    const started = Date.now();
    const done = new Promise((resolve, reject) => {
      const timer = setTimeout(() => { this.#waiting.delete(name); reject(new Error(`no drawing for ${name}`)); }, 10_000);
      this.#waiting.set(name, { resolve: file => { clearTimeout(timer); this.#waiting.delete(name); resolve(file); } });
    });
    await fsp.writeFile(path.join(this.in, `${name}.json`), JSON.stringify(job));
    const file = await done;
    const seen = Date.now();
    const { mtimeMs } = timing ? await fsp.stat(file) : {};
    const svg = await fsp.readFile(file);
    fsp.unlink(file).catch(() => {});
    if (timing) fs.writeSync(timing, `${started} ${name} drawn after ${(mtimeMs - started).toFixed(1)} seen after ${seen - started}\n`);
    return svg;
  }
}
