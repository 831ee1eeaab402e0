# suggestions beside the shop, answered by one of ten model replicas; the last of them hangs, and calls to it hang with it
import asyncio, json, random, sys


async def model(replica, item):
    if replica == 9:
        await asyncio.Event().wait()
    return ["%d" % ((item * k) % 5000 + 1) for k in (3, 7, 11)]


async def client(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            item = int(head.split()[1].rsplit("/", 1)[1])
            body = json.dumps(await model(random.randrange(10), item)).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    await (await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))).serve_forever()

asyncio.run(main())
