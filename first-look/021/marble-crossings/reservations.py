#!/usr/bin/env python3
"""The ferry operators' reservation system: far away, answers after 80 to 120 ms."""
import asyncio, json, random, signal, sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            route = head.split(b" ", 2)[1].decode().rsplit("/", 1)[-1]
            await asyncio.sleep(random.uniform(0.080, 0.120))
            body = json.dumps({"route": route, "places": random.randint(0, 900), "laneMetres": random.randint(0, 1800)}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
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
