"""The weather service: it takes 45 ms for an answer."""
import asyncio
import json
import sys


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            zone = int(head.split(b"zone=")[1].split()[0]) if b"zone=" in head else 0
            await asyncio.sleep(0.045)
            body = json.dumps({"zone": zone, "temperature": 9 + zone % 7}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
