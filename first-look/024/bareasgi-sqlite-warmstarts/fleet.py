"""Fleet of run controllers: each asks the broker for work by a long poll, runs it, and asks again."""
import asyncio
import json
import sys


def metadata(n):
    project = 1 if n % 10 else 2    # one large project, and another
    return {
        "controller": {"id": "ctl-%05d" % n, "image": "sha256:%04x" % (n % 97)},
        "project": {"id": "prj-%d" % project, "org": "org-1"},
        "environment": {"type": "production", "region": "eu-central"},
        "deployment": {"id": "dep-%d-0" % project, "version": "20260327.4"},
        "machine": {"preset": "small-1x" if n % 5 else "medium-2x", "arch": "x64"},
    }


async def controller(n, port):
    body = json.dumps(metadata(n)).encode()
    request = (b"POST /connect HTTP/1.1\r\nhost: broker\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
               % len(body)) + body
    await asyncio.sleep(n * 0.0005)
    reader = writer = None
    while True:
        try:
            if writer is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
            await asyncio.sleep(0.5)    # the run
        except (OSError, EOFError, asyncio.IncompleteReadError, IndexError):
            if writer is not None:
                writer.close()
            writer = None
            await asyncio.sleep(0.5)


async def announced(reader, writer):
    words = (await reader.readline()).split()
    writer.close()
    if len(words) == 4:
        for n in range(int(words[3])):
            tasks.add(asyncio.create_task(controller(n, int(words[1]))))


async def main():
    server = await asyncio.start_server(announced, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()

tasks = set()
asyncio.run(main())
