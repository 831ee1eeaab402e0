"""The carrier's own service: arrival times and tariff tables. argv: port, share of parcels of the depot that does not answer."""
import asyncio, math, random, sys

DEAF = float(sys.argv[2])


def tariffs():  # distances between depots by their coordinates
    pts = [(math.sin(i) * 90, math.cos(i * 7) * 180) for i in range(1920)]
    rows = []
    for a in pts[:320]:
        rows.append("%.3f" % (1 + min(math.hypot(a[0] - b[0], a[1] - b[1]) for b in pts if b is not a)))
    return "\n".join(rows)


async def serve(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            if path.startswith("/tariffs/"):
                body = tariffs().encode()
            else:
                if random.random() < DEAF:  # the depot's link hangs
                    await asyncio.sleep(4)
                body = str(int(path.rsplit("/", 1)[1]) % 72).encode()
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        w.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
