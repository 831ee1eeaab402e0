"""The mail department's name server. It holds a copy of the list links.local.example; what is asked about
uri.list.example goes to that list's own servers overseas, unless a neighbour has asked lately."""
import asyncio
import sys
import zlib

OVERSEAS_S = 0.12

class Server(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, addr):
        name = data[12:data.index(b"\0", 12)].lower()
        listed = zlib.crc32(name) % 50 == 0
        head = data[:2] + (b"\x81\x80" if listed else b"\x81\x83") + b"\0\1" + (b"\0\1" if listed else b"\0\0") + b"\0\0\0\0"
        end = data.index(b"\0", 12) + 5
        reply = head + data[12:end] + (b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\x7f\0\0\2" if listed else b"")
        if name.endswith(b"\3uri\4list\7example") and zlib.crc32(name) % 7 == 3:
            asyncio.get_running_loop().call_later(OVERSEAS_S, self.transport.sendto, reply, addr)
        else:
            self.transport.sendto(reply, addr)

async def main():
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Server, local_addr=("127.0.0.1", int(sys.argv[1])))
    await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", int(sys.argv[1]))
    await asyncio.Event().wait()

asyncio.run(main())
