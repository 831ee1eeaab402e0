# the bank: a group's card payment takes it a moment
import asyncio
import os
import sys

SECONDS = float(os.environ.get("BANK_S", "0.09"))

async def serve(reader, writer):
    while (line := await reader.readline()):
        while (await reader.readline()).strip():
            pass
        await asyncio.sleep(SECONDS)
        body = b"paid"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
