// Each request uses CPU time on the event loop, and all others wait for it.
"use strict";
const http = require("node:http");
const { parseArgs } = require("node:util");

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "burn-ms": { type: "string", default: "5" },
    healthy: { type: "boolean", default: false },
  },
});
const burnUs = 1000 * (values.healthy ? 0.2 : Number(values["burn-ms"]));

function burn() {
  const begin = process.cpuUsage();
  for (;;) {
    const used = process.cpuUsage(begin);
    if (used.user + used.system >= burnUs) return;
  }
}

const server = http.createServer((request, response) => {
  if (request.url !== "/health") burn();
  response.setHeader("Content-Length", 6);
  response.end("hello\n");
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const listening = `127.0.0.1:${server.address().port}`;
  const cause = values.healthy ? "none" : "cpu-saturation";
  console.log(JSON.stringify({ listening, cause, healthy: values.healthy }));
});
process.on("SIGTERM", () => process.exit(0));
