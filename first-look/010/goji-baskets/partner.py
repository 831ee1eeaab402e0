"""The partner's service: GET /confirm?ms=N takes N ms."""
import asyncio, sys, urllib.parse


async def serve(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            q = urllib.parse.parse_qs(urllib.parse.urlsplit(head.split(b" ", 2)[1].decode()).query)
            await asyncio.sleep(int(q.get("ms", ["0"])[0]) / 1000)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Type: text/plain\r\n\r\nok\n")
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with s:
        await s.serve_forever()

asyncio.run(main())
