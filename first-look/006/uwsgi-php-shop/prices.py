# the price service: it asks its own back office for each price
import asyncio, json, random, sys


async def client(r, w):
    try:
        head = await r.readuntil(b"\r\n\r\n")
        await asyncio.sleep(random.uniform(0.010, 0.016))
        n = int(head.split(b"of=")[1].split()[0])
        body = json.dumps({"cents": 100 + n * 7919 % 30000}).encode()
        w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError, IndexError):
        pass
    w.close()


async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()


asyncio.run(main())
