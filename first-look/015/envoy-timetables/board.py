"""One replica of the timetable service (asyncio, plain HTTP/1.1). With WEDGED=1 this replica accepts
connections and reads requests, but its worker never gets to them (as after a lost database session)."""
import asyncio, json, os, sys

STOPS = ["Harbour", "Old Town", "Museum", "Market", "Hospital", "University", "Airport", "Depot"]
WEDGED = os.environ.get("WEDGED") == "1"
backlog = asyncio.Queue()


async def client(r, w):
    try:
        while True:
            head = await r.readuntil(b"\r\n\r\n")
            line = head.split(b"\r\n", 1)[0].decode().split(" ")[1].rsplit("/", 1)[-1]
            if WEDGED and line != "health":
                await backlog.put((line, w))
                continue
            body = json.dumps({"line": line, "departures": [
                {"stop": s, "at": [f"{h:02}:{(i * 7 + len(line) * 5) % 60:02}" for h in range(5, 24)]}
                for i, s in enumerate(STOPS)]}).encode()
            w.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        w.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

asyncio.run(main())
