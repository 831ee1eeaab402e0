#!/usr/bin/env python3
"""partners.py PORT: the partner depots' interface, reached over a leased line (30 ms there and back)."""
import asyncio, signal, sys, zlib


async def serve(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            await asyncio.sleep(0.03)
            body = b"%d pallets\n" % (zlib.crc32(path) % 900)
            w.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        w.close()


async def main():
    await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()


asyncio.run(main())
