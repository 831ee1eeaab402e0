"""The mail relay: aiosmtpd, takes every message."""
import asyncio
import sys

from aiosmtpd.smtp import SMTP


class Handler:
    count = 0

    async def handle_DATA(self, server, session, envelope):
        Handler.count += 1
        return "250 2.0.0 queued as %d" % Handler.count


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Handler(), hostname="relay"), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
