"""node.py PORT [deaf]: one of the price nodes (aiohttp-free, asyncio streams only)."""
import asyncio, sys

DEAF = len(sys.argv) > 2 and sys.argv[2] == "deaf"  # a node whose process hangs: the kernel still accepts

async def serve(reader, writer):
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        if DEAF:
            await asyncio.sleep(3600)
        await asyncio.sleep(0.006)
        body = b"price 12.30 for " + head.split(b" ", 2)[1] + b"\n"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()

async def client(reader, writer):
    try:
        await serve(reader, writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()

async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()

asyncio.run(main())
