"""The registry: rates at once, histories come from its archive and take HISTORY_S."""
import asyncio, sys
HISTORY_S = float(sys.argv[2])

async def client(r, w):
    try:
        while True:
            path = (await r.readuntil(b"\r\n\r\n")).split(b" ", 2)[1]
            if path.startswith(b"/history"):
                await asyncio.sleep(HISTORY_S)
                body = b"5 changes since 2019"
            else:
                body = b"%d.25" % (2 + sum(path) % 9)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()

async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()
asyncio.run(main())
