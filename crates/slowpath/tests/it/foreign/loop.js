// A server of one event loop, which one request in EVERY keeps for HOLD_MS.
//
//     node loop.js PORT MODE HOLD_MS EVERY
//
// The mode is "block" (it computes), or "beside" (it waits for a timer, and the loop goes on).
"use strict";

const http = require("node:http");

const [port, mode, hold, every] = process.argv.slice(2);
const holdMs = Number(hold);
let served = 0;

function blockLoop(ms) {
    const end = process.hrtime.bigint() + BigInt(ms) * 1000000n;
    let sum = 0;
    while (process.hrtime.bigint() < end) {
        for (let i = 0; i < 10000; i += 1) {
            sum += Math.sqrt(i);
        }
    }
    return sum;
}

const server = http.createServer((request, response) => {
    served += 1;
    const answer = () => response.end("ok\n");
    if (served % Number(every) !== 0) {
        answer();
    } else if (mode === "block") {
        blockLoop(holdMs);
        answer();
    } else {
        setTimeout(answer, holdMs);
    }
});
server.listen({ port: Number(port), host: "127.0.0.1", backlog: 1024 });
