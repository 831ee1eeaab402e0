"""The stock server of all depots. argv: port."""
import asyncio, sys


async def serve(r, w):
    try:
        while True:
            _, kind, n = (await r.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode().split("/")
            n = int(n)
            if kind == "shelf":
                body = ("[" + ",".join('{"item":%d,"pieces":%d}' % (n * 40 + i, i * 7 % 30) for i in range(40)) + "]").encode()
            else:
                body = b"%d" % (n * 37 % 100)
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
