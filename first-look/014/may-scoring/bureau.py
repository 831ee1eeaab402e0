#!/usr/bin/env python3
"""The credit bureau: a line protocol. A score takes 3 ms, half a report 130 ms.

usage: bureau.py PORT
"""
import asyncio
import sys


async def serve(reader, writer):
    while line := await reader.readline():
        words = line.split()
        await asyncio.sleep(0.130 if words[0] == b"REPORT" else 0.003)
        writer.write(b"%d\n" % (400 + hash(words[1]) % 400))
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
