"""The carrier's tariff service: refuses a part of the requests with 503, as its quota tells it to."""
import asyncio, os, random, sys
BUSY = float(os.environ.get("BUSY", "0"))
if len(sys.argv) > 2:
    BUSY = float(sys.argv[2])

async def client(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            zone = head.split(b" ", 2)[1].rsplit(b"/", 1)[1]
            busy = random.random() < BUSY
            body = b"busy" if busy else b"%d.40" % (3 + sum(zone) % 7)
            status = b"503 Service Unavailable" if busy else b"200 OK"
            w.write(b"HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()

async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()
asyncio.run(main())
