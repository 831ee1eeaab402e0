"""The partner railway's quote service: far away, 82 to 88 ms for each quote, any number at a time."""
import asyncio
import json
import random
import sys
import time


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            fare = head.split(b" ", 2)[1].rsplit(b"/", 1)[1].decode()
            await asyncio.sleep(random.uniform(0.082, 0.088))
            body = json.dumps({"carrier": "Transalp", "amount": "%d.50" % (40 + int(fare) % 60),
                               "quotedAt": str(int(time.time()))}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                         + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
