"""othersite.py PORT REDIS_PORT: the way to the Redis of the other site, 5 ms there and 5 ms back.

Each byte stream is handed on in order, each piece 5 ms after it came in; any number are on their way at once.
"""
import asyncio
import sys

WAY = 0.005


class End(asyncio.Protocol):
    def __init__(self, loop):
        self.loop, self.peer, self.transport, self.early = loop, None, None, []

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.loop.call_later(WAY, self.hand_on, data)

    def hand_on(self, data):
        if self.peer is None:
            self.early.append(data)
        elif not self.peer.transport.is_closing():
            self.peer.transport.write(data)

    def connection_lost(self, exc):
        if self.peer is not None:
            self.loop.call_later(WAY, self.peer.transport.close)


class Near(End):
    def __init__(self, loop, port):
        super().__init__(loop)
        self.port = port

    def connection_made(self, transport):
        super().connection_made(transport)
        self.far = self.loop.create_task(self.dial())

    async def dial(self):
        _, far = await self.loop.create_connection(lambda: End(self.loop), "127.0.0.1", self.port)
        far.peer, self.peer = self, far
        for data in self.early:
            far.transport.write(data)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Near(loop, int(sys.argv[2])), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
