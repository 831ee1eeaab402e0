"""The regulator's price register: POST /prices takes 22 to 28 ms."""
import asyncio
import random
import re
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: *(\d+)", head)
            if length:
                await reader.readexactly(int(length[1]))
            await asyncio.sleep(random.uniform(0.022, 0.028))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{\"filed\": true}")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
