"""A cache node that hangs: connections are taken, what they say is read, and
nothing is ever answered."""
import asyncio
import signal
import sys


async def serve(reader, writer):
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        pass
    finally:
        writer.close()


async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await stop.wait()
    server.close()


asyncio.run(main())
