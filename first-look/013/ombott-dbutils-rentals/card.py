# the card company: holds a deposit, which takes it a moment
import asyncio
import sys

SECONDS = float(sys.argv[2])

async def serve(reader, writer):
    while (await reader.readline()).strip():
        pass
    await asyncio.sleep(SECONDS)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\nheld")
    await writer.drain()
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
