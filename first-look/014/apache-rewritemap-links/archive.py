#!/usr/bin/env python3
"""The archive of old links: one key a line in, the page out, after the 110 ms its tape index takes."""
import asyncio, sys

async def serve(r, w):
    while line := await r.readline():
        await asyncio.sleep(0.110)
        w.write(b"p%d\n" % (sum(line) % 5))
        await w.drain()
    w.close()

async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()
asyncio.run(main())
