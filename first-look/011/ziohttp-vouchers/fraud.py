"""The fraud service: a score from memory, a review of a batch from its slow archive. argv: port, seconds of a review."""
import asyncio, sys


async def serve(r, w):
    try:
        while True:
            path = (await r.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            _, kind, n = path.split("/")
            if kind == "review":
                await asyncio.sleep(float(sys.argv[2]))
                body = b'{"suspicious":%d}' % (int(n) % 3)
            else:
                body = b"%d" % (int(n) * 37 % 100)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        w.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
