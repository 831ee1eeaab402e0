# the carrier's interface: refuses every REFUSE-th request of all with 503 (0: none)
import asyncio
import sys

REFUSE = int(sys.argv[2])
seen = refused = 0

async def serve(reader, writer):
    global seen, refused
    while (line := await reader.readline()):
        while (await reader.readline()).strip():
            pass
        seen += 1
        if REFUSE and seen % REFUSE == 0:
            refused += 1
            if refused % 20 == 0:
                print(f"{seen} requests, {refused} refused", file=sys.stderr, flush=True)
            status, body = b"503 Service Unavailable", b'{"error":"busy"}'
        else:
            status, body = b"200 OK", b'{"state":"on its way","stop":%d}' % (seen % 40)
        writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
        await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
