"""The geocoder; some of its replies are 503 (no free worker)."""
import asyncio, random, sys

BUSY = float(sys.argv[2])


async def serve(r, w):
    try:
        while True:
            await r.readuntil(b"\r\n\r\n")
            if random.random() < BUSY:
                w.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nbusy\n")
            else:
                w.write(b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n1 Main Street\r\n")
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with s:
        await s.serve_forever()

asyncio.run(main())
