"""The town's central log collector: takes batches of lines and says 'ok' when a batch is indexed."""
import asyncio
import random
import sys


async def client(reader, writer):
    try:
        while True:
            size = int(await reader.readline() or b"-1")
            if size < 0:
                break
            await reader.readexactly(size)
            await asyncio.sleep(random.uniform(0.13, 0.17))
            writer.write(b"ok\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
