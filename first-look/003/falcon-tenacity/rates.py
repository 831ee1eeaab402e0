"""rates.py PORT PERCENT: exchange rates; PERCENT of the answers are 503 (an overloaded vendor)."""
import asyncio, random, sys

PERCENT = float(sys.argv[2])

async def client(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.040)
            body, status = b'{"rate": 1.25}', b"200 OK"
            if random.random() * 100 < PERCENT:
                body, status = b'{"error": "try again"}', b"503 Service Unavailable"
            writer.write(b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()

async def main():
    s = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    await s.serve_forever()

asyncio.run(main())
