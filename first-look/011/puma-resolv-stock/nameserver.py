"""A caching forwarder of SRV records. argv: port, port of the stock server, seconds an answer is kept, seconds its parent zone takes."""
import asyncio, random, struct, sys, time

PORT, STOCK, KEEP, PARENT = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
cache = {}
target = b"".join(bytes([len(p)]) + p for p in (b"stock", b"shop", b"internal")) + b"\0"


class Names(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.out = transport

    def datagram_received(self, query, sender):
        asyncio.ensure_future(self.answer(query, sender))

    async def answer(self, query, sender):
        question = query[12:query.index(b"\0", 12) + 5]
        if cache.get(question, 0) < time.monotonic():
            await asyncio.sleep(PARENT * random.uniform(0.8, 1.2))  # the parent zone's answer is on its way
            cache[question] = time.monotonic() + KEEP * random.uniform(0.8, 1.2)
        srv = struct.pack(">HHH", 10, 10, STOCK) + target
        self.out.sendto(query[:2] + b"\x85\x80" + b"\0\1\0\1\0\0\0\0" + question
                        + b"\xc0\x0c" + struct.pack(">HHIH", 33, 1, 1, len(srv)) + srv, sender)


async def main():
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Names, local_addr=("127.0.0.1", PORT))
    await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", PORT)  # only says that it is there
    await loop.create_future()

asyncio.run(main())
