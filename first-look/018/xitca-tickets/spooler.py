#!/usr/bin/env python3
"""spooler.py PORT: takes the jobs for the ticket printers

PRINT <desk> <bytes> <bytes of the memo>\\n<ticket><memo>   ->   QUEUED <number>\\n
"""
import asyncio, collections, signal, sys

queues = collections.defaultdict(lambda: collections.deque(maxlen=50))
jobs = 0


async def serve(reader, writer):
    global jobs
    try:
        while line := await reader.readline():
            word, desk, ticket, memo = line.split()
            data = await reader.readexactly(int(ticket) + int(memo))
            jobs += 1
            queues[desk].append(data)
            writer.write(b"QUEUED %d\n" % jobs)
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await stop.wait()


asyncio.run(main())
