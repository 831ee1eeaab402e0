"""The local mail relay: takes mail over SMTP and puts it into the outgoing queue (kept in memory)."""
import asyncio
import collections
import signal
import sys

from aiosmtpd.smtp import SMTP

queue = collections.deque(maxlen=500)


class Relay:
    async def handle_DATA(self, server, session, envelope):
        queue.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 2.0.0 Ok: queued"


async def main(port):
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    server = await loop.create_server(
        lambda: SMTP(Relay(), hostname="relay.example.org", loop=loop), "127.0.0.1", port)
    await stop.wait()
    server.close()


asyncio.run(main(int(sys.argv[1])))
