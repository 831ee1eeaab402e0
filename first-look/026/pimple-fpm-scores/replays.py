"""The storage of replays (here: a fixed time to answer). replays.py PORT SECONDS"""
import asyncio
import json
import sys


async def serve(reader, writer):
    try:
        await reader.readuntil(b"\r\n\r\n")
        await asyncio.sleep(float(sys.argv[2]))
        body = json.dumps({"valid": True, "frames": 4211}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=256)
    await server.serve_forever()

asyncio.run(main())
