"""Stand-in for a geocoder: knows most places at once; some of its shards accept a query and never answer."""
import asyncio
import sys


async def serve(reader, writer):
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        place = int(head.split("id=")[1].split()[0])
        if place % 10 == 5:  # the shard that hangs
            await reader.read()
        else:
            body = f"{place % 90}.{place % 7} {place % 180}.{place % 9}\n".encode()
            writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
