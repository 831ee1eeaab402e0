"""The stock service: answers how many pieces are in the warehouses, after asking each of them."""
import asyncio
import random
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(random.uniform(0.11, 0.17))
            name = head.split(b" ", 2)[1].rsplit(b"/", 1)[-1]
            body = b'{"shelf":"%s","pieces":%d}' % (name, random.randint(1, 900))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
            break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
