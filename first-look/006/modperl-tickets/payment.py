# the payment provider's test server: it answers after the bank has
import asyncio, sys


async def client(r, w):
    try:
        while True:
            await r.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.12)
            body = b"paid"
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()


asyncio.run(main())
