"""The bed banks' gateway: GET /free-sale/NAME takes 110 to 140 ms."""
import asyncio
import json
import random
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            name = head.split(b" ", 2)[1].rsplit(b"/", 1)[-1].decode()
            await asyncio.sleep(random.uniform(0.110, 0.140))
            body = json.dumps({"bank": name, "hotel": random.randint(1, 60), "factor": 1.0}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                         b"content-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
