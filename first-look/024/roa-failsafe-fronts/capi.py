"""capi.py PORT: the content API. It answers, but since the tag index grew a search of a large section takes 0.6 s."""
import asyncio
import json
import random
import sys

LARGE = {"sport", "world", "politics", "culture"}
SLOW = 0.6


def search(section):
    r = random.Random(section)
    return json.dumps([
        {"id": "%s/%d" % (section, i), "headline": "%s, item %d of the day" % (section.title(), i),
         "published": 1700000000 + r.randrange(86400), "words": r.randrange(200, 1500)} for i in range(60)]).encode()


async def serve(reader, writer):
    try:
        while True:
            line = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            section = line.partition("section=")[2]
            body = answers.get(section)
            if body is None:
                body = answers[section] = search(section)
            if section in LARGE:
                await asyncio.sleep(SLOW)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=256)
    await server.serve_forever()


answers = {}
asyncio.run(main())
