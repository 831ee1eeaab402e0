// A handler that answers when a timer of constant length has run out.
"use strict";
const http = require("node:http");
const { parseArgs } = require("node:util");

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "delay-ms": { type: "string", default: "13" },
    healthy: { type: "boolean", default: false },
  },
});
const delayMs = Number(values["delay-ms"]);

const server = http.createServer((request, response) => {
  const answer = () => {
    response.setHeader("Content-Length", 6);
    response.end("hello\n");
  };
  if (values.healthy || request.url === "/health") answer();
  else setTimeout(answer, delayMs);
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const listening = `127.0.0.1:${server.address().port}`;
  const cause = values.healthy ? "none" : "fixed-delay";
  console.log(JSON.stringify({ listening, cause, healthy: values.healthy }));
});
process.on("SIGTERM", () => process.exit(0));
