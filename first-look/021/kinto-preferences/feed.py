"""`feed.py PORT SHARED`: the staff agency's feed: /roster answers some pages of a shift roster, each as soon as the agency has it."""
import asyncio
import json
import signal
import sys

PAGES = 2
GAP = 0.042


async def client(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if not head:
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n")
            for page in range(PAGES):
                if page:
                    await asyncio.sleep(GAP)
                line = json.dumps({"page": page, "rows": [[n, "early" if n % 2 else "late"] for n in range(12)]}).encode() + b"\n"
                writer.write(b"%x\r\n%s\r\n" % (len(line), line))
                await writer.drain()
            await asyncio.sleep(GAP)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await asyncio.start_server(client, "127.0.0.1", int(sys.argv[1]))
    with open(sys.argv[2] + "/feed.port", "w") as f:
        f.write(sys.argv[1])
    await stop.wait()


asyncio.run(main())
