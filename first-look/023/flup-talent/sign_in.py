"""The government's sign-in service, as far away as it is: an introspection takes 80 ms."""
import asyncio
import sys


async def client(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((int(h.split(b":")[1]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:")), 0)
            token = (await reader.readexactly(length)).partition(b"=")[2].decode()
            await asyncio.sleep(0.08)
            body = ('{"active": true, "sub": "%s", "scope": "openid screening"}' % token).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
