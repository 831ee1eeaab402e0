#!/usr/bin/env python3
"""The tariff server of the carrier: one line in, one line out; a price takes 1 to 4 ms, a label 1 to 16 ms, by its key."""
import asyncio, sys, zlib

async def serve(r, w):
    while line := await r.readline():
        kind, _, key = line.decode().strip().partition(" ")
        h = zlib.crc32(key.encode())
        await asyncio.sleep(0.001 + h % 16 / 1000 if kind == "label" else 0.001 + h % 4 / 1000)
        w.write(f"{kind} {key} {4 + sum(key.encode()) % 17}.90 EUR\n".encode())
        await w.drain()
    w.close()

async def main():
    s = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()
asyncio.run(main())
