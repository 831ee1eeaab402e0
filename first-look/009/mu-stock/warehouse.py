"""The warehouse: confirms a reservation, which takes it 80 to 150 ms."""
import asyncio, random, sys

async def serve(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(random.uniform(0.08, 0.15))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nbooked\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
