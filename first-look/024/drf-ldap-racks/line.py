"""The leased line to the head office, where the directory is: line.py PORT DIRECTORY_PORT
passes on what it gets after 6 ms, in each direction."""
import asyncio
import sys

DELAY = 0.006


async def pump(reader, writer):
    loop = asyncio.get_running_loop()
    queue = asyncio.Queue()

    async def deliver():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not data:
                writer.close()
                return
            writer.write(data)

    task = asyncio.create_task(deliver())
    while True:
        try:
            data = await reader.read(65536)
        except OSError:
            data = b""
        queue.put_nowait((loop.time() + DELAY, data))
        if not data:
            break
    await task


async def accept(reader, writer):
    there, back = await asyncio.open_connection("127.0.0.1", int(sys.argv[2]))
    await asyncio.gather(pump(reader, back), pump(there, writer))


async def main():
    server = await asyncio.start_server(accept, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
