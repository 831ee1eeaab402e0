"""The tariffs service of the ticket seller's head office: a price in 14 to 18 ms."""
import asyncio, random, sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            show, seat = (int(x) for x in head.split(b" ", 2)[1].split(b"/")[2:4])
            await asyncio.sleep(random.uniform(0.014, 0.018))
            out = b"%d" % (1900 + show * 40 + seat % 9 * 250)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(out), out))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
