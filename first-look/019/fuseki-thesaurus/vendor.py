#!/usr/bin/env python3
"""vendor.py PORT SHARED: the publisher of the subject headings.

Serves the additions of its sources as Turtle. The publisher's front throttles
each download to about 60 KB/s.
"""
import asyncio
import os
import sys

PORT, SHARED = int(sys.argv[1]), sys.argv[2]
PIECE, PAUSE = 1024, 0.016


def additions(source, edition):
    lines = ["@prefix skos: <http://www.w3.org/2004/02/skos/core#> .",
             "@prefix v: <http://vendor.example.org/%s/> ." % source]
    for n in range(105):
        lines.append("v:h%d skos:prefLabel \"heading %d of edition %d\"@en ; skos:notation \"%s-%04d\" ." % (n, n, edition, source, n))
    return ("\n".join(lines) + "\n").encode()


async def serve(reader, writer):
    edition = 0
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            edition += 1
            body = additions(path.strip("/").split(".")[0] or "a", edition)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/turtle\r\nContent-Length: %d\r\n\r\n" % len(body))
            for at in range(0, len(body), PIECE):
                writer.write(body[at:at + PIECE])
                await writer.drain()
                await asyncio.sleep(PAUSE)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    os.makedirs(SHARED, exist_ok=True)
    for name in os.listdir(SHARED):
        os.unlink(os.path.join(SHARED, name))
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    with open(os.path.join(SHARED, "vendor.new"), "w") as out:
        out.write(str(PORT))
    os.rename(os.path.join(SHARED, "vendor.new"), os.path.join(SHARED, "vendor.port"))
    async with server:
        await server.serve_forever()


asyncio.run(main())
