"""The accounting's tariff service: one base price and one price per kilogram for each zone."""
import asyncio
import json
import signal
import sys


class Tariffs(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.rest = b""

    def data_received(self, data):
        self.rest += data
        while b"\r\n\r\n" in self.rest:
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            zone = head.split(b" ")[1].decode().rsplit("/", 1)[1]
            number = sum(zone.encode())
            body = json.dumps({"zone": zone, "base": 390 + number % 200, "perKg": 35 + number % 40,
                               "valid": "2024-12-31"}).encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                                 % (len(body), body))


async def main():
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await loop.create_server(Tariffs, "127.0.0.1", int(sys.argv[1]))
    await stop.wait()


asyncio.run(main())
