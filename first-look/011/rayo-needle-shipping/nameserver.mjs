// the company's name server: answers A questions for *.carriers.example; asks the carriers' own server each time (argument 3, ms)
import dgram from "node:dgram";
// a name lives for ttl or ttl + 1 seconds
const [port, ttl, far] = process.argv.slice(2).map(Number);
const server = dgram.createSocket("udp4");
server.on("message", (q, from) => {
  let end = 12;
  while (q[end] !== 0) end += q[end] + 1;
  const type = q.readUInt16BE(end + 1);
  const question = q.subarray(12, end + 5);
  const head = Buffer.from(q.subarray(0, 12));
  head.writeUInt16BE(0x8580, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(type === 1 ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const parts = [head, question];
  if (type === 1) {
    const a = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    a.writeUInt32BE(ttl + end % 2, 6);
    parts.push(a);
  }
  const reply = Buffer.concat(parts);
  setTimeout(() => server.send(reply, from.port, from.address), far ? far + (q[0] % 5) * 6 : 0);
});
server.bind(port, "127.0.0.1", () => {
  // the same port by TCP says that the server is there
  import("node:net").then((net) => net.createServer((c) => c.destroy()).listen(port, "127.0.0.1"));
});
