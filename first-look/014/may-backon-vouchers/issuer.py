#!/usr/bin/env python3
"""The voucher issuer: a line protocol. A check takes 2 ms; each twelfth call is
refused with BUSY at once, as by a gateway while one of twelve machines behind
it is being replaced.

usage: issuer.py PORT
"""
import asyncio
import sys

calls = 0


async def serve(reader, writer):
    global calls
    while await reader.readline():
        calls += 1
        if calls % 12 == 0:
            writer.write(b"BUSY\n")
        else:
            await asyncio.sleep(0.002)
            writer.write(b"2500\n")
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
