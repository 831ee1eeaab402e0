"""The billing provider's usage API: it books a partner's calls and answers after 80 to 120 ms,
as the real one does over the internet."""
import asyncio, json, random, sys

booked = {}


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = 0
            for line in head.split(b"\r\n"):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = await reader.readexactly(length) if length else b""
            if head.startswith(b"POST"):
                item = json.loads(body)
                await asyncio.sleep(random.uniform(0.080, 0.120))
                booked[item["partner"]] = booked.get(item["partner"], 0) + item["calls"]
            out = json.dumps({"booked": sum(booked.values())}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(out) + out)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
