"""The application of a parts depot, behind the balancer: parts and whole shelves from memory."""
import asyncio
import sys

KEEP_S = 30  # closes a kept connection that has been idle so long
STOCK = [b'{"part": %d, "bin": "%c%d", "left": %d}' % (n, 65 + n % 26, n % 40, n * 7 % 50) for n in range(5000)]

async def answer(path):
    if path.startswith(b"/part/"):
        return STOCK[int(path[6:]) % 5000]
    if path.startswith(b"/shelf/"):
        start = int(path[7:]) % 40 * 100
        return b"[" + b",".join(STOCK[start:start + 100]) + b"]"
    return b"ok"

async def client(reader, writer):
    try:
        while True:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), KEEP_S)
            body = await answer(head.split(b" ", 2)[1])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except (asyncio.IncompleteReadError, asyncio.TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()

async def main():
    async with await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]), backlog=256) as server:
        await server.serve_forever()

asyncio.run(main())
