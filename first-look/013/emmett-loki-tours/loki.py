# stands for Loki's push API: answers 204 when the lines are in its write-ahead log
import asyncio
import os
import sys

SECONDS = float(os.environ.get("WAL_S", "0.07"))

async def serve(reader, writer):
    while (line := await reader.readline()):
        length = 0
        while (header := (await reader.readline()).strip()):
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        await reader.readexactly(length)
        await asyncio.sleep(SECONDS)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
