"""The price service: one article for each request, after a look at the list of that article's supplier."""
import asyncio
import random
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(random.uniform(0.004, 0.008))
            name = head.split(b" ", 2)[1].rsplit(b"/", 1)[-1]
            body = b'{"article":"%s","cents":%d}' % (name, random.randint(100, 90000))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=512)
    await server.serve_forever()


asyncio.run(main())
