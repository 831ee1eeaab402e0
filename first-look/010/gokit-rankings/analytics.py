"""The analytics service: a ranking takes a while, as it is read from the column store."""
import asyncio, json, random, sys


async def serve(r, w):
    try:
        while True:
            await r.readuntil(b"\r\n\r\n")
            await asyncio.sleep(random.uniform(0.12, 0.18))
            body = json.dumps([{"shop": i, "sales": random.randrange(9999)} for i in range(20)]).encode()
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with s:
        await s.serve_forever()

asyncio.run(main())
