// A server with a large heap that collects garbage.
//
//     node --expose-gc --trace-gc garbage.js PORT MODE
//
// "full" collects all of it with every 100th request; "sleep" waits as long beside the loop instead;
// "none" does neither.

"use strict";
const http = require("node:http");

const [port, mode] = process.argv.slice(2);
const live = [];
if (mode !== "none") {
  for (let n = 0; n < 200000; n++) live.push({ n, text: `row ${n}` });
}
let served = 0;

http
  .createServer((_, response) => {
    served += 1;
    const meets = served % 100 === 0;
    const answer = () => response.end(`${live.length}\n`);
    if (meets && mode === "full") global.gc();
    if (meets && mode === "sleep") setTimeout(answer, 60);
    else answer();
  })
  .listen(Number(port), "127.0.0.1");
