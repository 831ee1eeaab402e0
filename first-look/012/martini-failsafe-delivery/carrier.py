# The carrier's service: a quote takes it 8 ms, whatever else it does meanwhile.
import asyncio, sys

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            parcel = head.split(b" ", 2)[1].rsplit(b"/", 1)[-1].decode()
            await asyncio.sleep(0.008)
            body = '{"parcel":"%s","price":%d}' % (parcel, 490 + len(parcel) * 35)
            writer.write(("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)).encode())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
