"""The airlines' partner API: fares come at once, package offers are put together by the airlines' systems."""
import asyncio
import os
import random
import sys

current = highest = 0


async def client(reader, writer):
    global current, highest
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            current += 1
            if current > highest:
                highest = current
                if os.environ.get("PARTNER_LOG"):
                    print("concurrent requests", highest, file=sys.stderr, flush=True)
            kind, _, key = path.strip("/").partition("/")
            if kind == "offers":
                wait = random.uniform(0.085, 0.1)
                body = '[{"id":"%s-1","eur":%d},{"id":"%s-2","eur":%d}]' % (key, 310 + len(key), key, 455)
            else:
                wait = random.uniform(0.002, 0.004)
                body = '{"id":"%s","eur":%d}' % (key, 120 + sum(key.encode()) % 90)
            await asyncio.sleep(wait)
            current -= 1
            data = body.encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Own-Ms: %.1f\r\n"
                         b"Content-Length: %d\r\n\r\n" % (wait * 1000, len(data)) + data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
