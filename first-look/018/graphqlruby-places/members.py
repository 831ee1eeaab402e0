"""Member profiles; every request costs about 3 ms, however many members it asks for."""
import asyncio
import json
import random
import sys


def member(number):
    return {"id": number, "name": "Member %d" % number, "since": 2010 + number % 14}


async def client(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            await asyncio.sleep(random.uniform(0.0022, 0.0034))
            if "?ids=" in path:
                answer = [member(int(n)) for n in path.split("=", 1)[1].split(",")]
            else:
                answer = member(int(path.rsplit("/", 1)[1]))
            data = json.dumps(answer).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                         b"Content-Length: %d\r\n\r\n" % len(data) + data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
