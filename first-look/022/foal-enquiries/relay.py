"""The mail relay of the house: aiosmtpd, takes what comes and counts it per mailbox."""
import asyncio
import os
import signal
import sys
import time

from aiosmtpd.smtp import SMTP

LOG = open(os.environ["RELAY_LOG"], "a", buffering=1) if os.environ.get("RELAY_LOG") else None


class Relay:
    def __init__(self):
        self.boxes = {}

    async def handle_DATA(self, server, session, envelope):
        started = time.time()
        for to in envelope.rcpt_tos:
            self.boxes[to] = self.boxes.get(to, 0) + 1
        if LOG:
            LOG.write(f"{started:.4f} {session.peer[1]} {len(envelope.content)}\n")
        return "250 2.0.0 queued as %d" % sum(self.boxes.values())


async def main():
    loop = asyncio.get_running_loop()
    relay = Relay()
    server = await loop.create_server(
        lambda: SMTP(relay, hostname="relay.stadtwerke.example", ident="ESMTP", timeout=600, loop=loop),
        "127.0.0.1", int(sys.argv[1]))
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    server.close()


asyncio.run(main())
os._exit(0)
