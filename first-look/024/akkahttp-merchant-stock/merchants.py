"""merchants.py PORT: the servers of 250 merchants, 127.0.1.1 to 127.0.1.250, each tells its stock at once."""
import asyncio
import json
import random
import sys


def stock(merchant):
    r = random.Random(merchant)
    items = [{"sku": "%d-%03d" % (merchant, i), "price": r.randrange(199, 9999), "left": r.randrange(0, 9)}
             for i in range(r.randrange(10, 40))]
    return json.dumps({"merchant": merchant, "items": items}).encode()


async def main(port):
    def handler(body):
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)

        async def serve(reader, writer):
            try:
                while True:
                    await reader.readuntil(b"\r\n\r\n")
                    writer.write(head + body)
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()
        return serve

    for merchant in range(1, 251):
        await asyncio.start_server(handler(stock(merchant)), "127.0.1.%d" % merchant, port)
    await asyncio.start_server(handler(b"{}"), "127.0.0.1", port)
    await asyncio.Event().wait()


asyncio.run(main(int(sys.argv[1])))
