// Header and body in two writes without TCP_NODELAY: Nagle's algorithm holds the second until the
// client acknowledges the first.
"use strict";
const net = require("node:net");
const { parseArgs } = require("node:util");

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, healthy: { type: "boolean", default: false } },
});
const body = "hello\n";
const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;

const server = net.createServer((socket) => {
  socket.setNoDelay(values.healthy);
  socket.on("error", () => socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    for (let end; (end = received.indexOf("\r\n\r\n")) >= 0; ) {
      received = received.slice(end + 4);
      // The callback comes after the first write was handed to the kernel: two writes, not one.
      socket.write(head, () => socket.write(body));
    }
  });
});
server.listen(Number(values.port), "127.0.0.1", () => {
  const listening = `127.0.0.1:${server.address().port}`;
  const cause = values.healthy ? "none" : "delayed-ack";
  console.log(JSON.stringify({ listening, cause, healthy: values.healthy }));
});
process.on("SIGTERM", () => process.exit(0));
