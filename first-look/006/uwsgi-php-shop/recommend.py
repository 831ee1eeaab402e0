# what goes with a product; the replicas behind it take turns, and one of the fourteen does not answer any more
import asyncio, itertools, json, sys

replica = itertools.cycle(range(14))


async def client(r, w):
    try:
        head = await r.readuntil(b"\r\n\r\n")
        if next(replica) == 13:
            await r.read()
        else:
            n = int(head.split(b"to=")[1].split()[0])
            body = json.dumps([n * k % 400 + 1 for k in range(2, 9)]).encode()
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError, IndexError):
        pass
    w.close()


async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()


asyncio.run(main())
