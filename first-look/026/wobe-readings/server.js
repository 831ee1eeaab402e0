// Readings of meters: batches come in, averages go out; the open block is written to disk, deflated, every FLUSH_AFTER batches.
// COMPRESS says how: "inline" (deflateSync, on the event loop) or "background" (deflate, on a thread of zlib's).
import { Wobe } from "wobe";
import { deflate, deflateSync } from "node:zlib";
import { promisify } from "node:util";
import { writeFile, rename, mkdir } from "node:fs/promises";

const [port, folder] = process.argv.slice(2);
const FLUSH_AFTER = 36;
const inline = process.env.COMPRESS !== "background";
const deflated = promisify(deflate);
const level = { level: 9 };

const METERS = 400;
const meters = Array.from({ length: METERS }, () => []);
const lines = []; // the open block, as it will be written

function take(meter, at, kwh, volt) {
  const values = meters[meter % METERS];
  values.push(kwh);
  if (values.length > 200) values.shift();
  lines.push(JSON.stringify({ meter: meter % METERS, at, kwh, volt, quality: kwh > 4 ? "estimated" : "good" }));
  if (lines.length > 41000) lines.splice(0, 1000);
}

// what of the hour is there already
let x = 12345;
const random = () => (x = (x * 1103515245 + 12345) % 2147483648) / 2147483648;
for (let n = 0; n < 38000; n++) take(n, 1700000000 + n, Math.round(random() * 5000) / 1000, 225 + Math.round(random() * 100) / 10);

let batches = 0;
let flushing = false;
let flushes = 0;
await mkdir(folder, { recursive: true });

async function flush() {
  flushing = true;
  try {
    const block = Buffer.from(lines.join("\n"));
    const begin = performance.now();
    const packed = inline ? deflateSync(block, level) : await deflated(block, level);
    if (process.env.TRACE) console.error(`deflate ${block.length} -> ${packed.length} ${(performance.now() - begin).toFixed(1)} ms`);
    await writeFile(`${folder}/block.tmp`, packed);
    await rename(`${folder}/block.tmp`, `${folder}/block.z`);
    flushes++;
  } finally {
    flushing = false;
  }
}

new Wobe({ hostname: "127.0.0.1" })
  .get("/health", (c) => c.res.sendText(`${lines.length} readings, ${flushes} flushes`))
  .get("/meters/:id", (c) => {
    const values = meters[Number(c.params.id) % METERS];
    const sorted = [...values].sort((a, b) => a - b);
    return c.res.sendJson({
      meter: Number(c.params.id),
      mean: values.reduce((a, b) => a + b, 0) / values.length,
      median: sorted[sorted.length >> 1],
      last: values.slice(-24),
    });
  })
  .post("/readings", async (c) => {
    const batch = await c.request.json();
    for (const [n, kwh] of batch.kwh.entries()) take(batch.meter + n, batch.at, kwh, batch.volt);
    if (++batches % FLUSH_AFTER === 0 && !flushing) flush();
    return c.res.sendJson({ taken: batch.kwh.length });
  })
  .listen(Number(port));
