"""suppliers.py PORT: price lists of 45 suppliers, which take a while."""
import asyncio
import json
import random
import sys

PORT = int(sys.argv[1])


async def serve(reader, writer):
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        supplier = int(head.split()[1].rsplit(b"/", 1)[1])
        await asyncio.sleep(random.uniform(0.100, 0.140))
        body = json.dumps({str(n): round(random.uniform(3, 99), 2)
                           for n in range(supplier or 45, 901, 45)}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                     b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError, IndexError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    async with server:
        await server.serve_forever()


asyncio.run(main())
