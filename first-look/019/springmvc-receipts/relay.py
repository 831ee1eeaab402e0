"""The mail relay of the house (aiosmtpd): takes every mail for delivery and says so at once."""
import asyncio
import signal
import sys

from aiosmtpd.smtp import SMTP


class Relay:
    taken = 0

    async def handle_DATA(self, server, session, envelope):
        Relay.taken += 1
        return "250 2.0.0 taken as %d" % Relay.taken


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(Relay(), hostname="relay.test", enable_SMTPUTF8=False, timeout=600),
        "127.0.0.1", int(sys.argv[1]))
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    server.close()


asyncio.run(main())
