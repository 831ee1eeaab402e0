import asyncio, os, sys

PORT, WAIT = int(sys.argv[1]), float(sys.argv[2])
BODY = b'{"ok": true, "text": "%s"}' % (b"x" * 200)
HEAD = os.environ.get("EXTRA_HEADER", "X-Server: back").encode()


async def client(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    await r.readexactly(int(line.split(b":")[1]))
            await asyncio.sleep(WAIT)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s\r\nContent-Length: %d\r\n\r\n%s" % (HEAD, len(BODY), BODY))
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        w.close()


async def main():
    s = await asyncio.start_server(client, "127.0.0.1", PORT)
    await s.serve_forever()

asyncio.run(main())
