"""store.py PORT: the object store, some 125 ms away."""
import asyncio
import random
import sys

PORT = int(sys.argv[1])


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            size = 0
            for line in head.lower().split(b"\r\n"):
                if line.startswith(b"content-length:"):
                    size = int(line[15:])
            await reader.readexactly(size)
            await asyncio.sleep(random.uniform(0.110, 0.140))
            writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    async with server:
        await server.serve_forever()


asyncio.run(main())
