"""The moderation service of another company (here: a fixed time to answer). moderation.py PORT SECONDS"""
import asyncio
import json
import sys


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = int(head.split("content-length:")[1].split("\r\n")[0]) if "content-length:" in head else 0
            text = await reader.readexactly(length)
            await asyncio.sleep(float(sys.argv[2]))
            body = json.dumps({"flagged": b"forbidden" in text, "categories": {}}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
