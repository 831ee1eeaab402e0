"""The carrier's gateway: HTTP/1.1 with keep-alive; reads a request to its end, then answers (no '100 Continue')."""
import asyncio, os, signal, sys

async def serve(r, w):
    try:
        while True:
            head = (await r.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *rest = head.split("\r\n")
            h = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in rest if x)}
            size = 0
            if h.get("transfer-encoding", "").lower() == "chunked":
                while True:
                    n = int(await r.readuntil(b"\r\n"), 16)
                    await r.readexactly(n + 2)
                    size += n
                    if not n:
                        break
            else:
                size = int(h.get("content-length", "0"))
                await r.readexactly(size)
            path = line.split()[1]
            body = ('<answer for="%s" bytes="%d" state="accepted"/>' % (path, size)).encode()
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        w.close()

async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await stop.wait()
    os._exit(0)

asyncio.run(main())
