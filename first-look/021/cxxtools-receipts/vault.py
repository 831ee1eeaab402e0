"""A vault of the archive: `vault.py PORT [old]`. PUT /receipts/N.xml keeps the document (the last
thousand of them). The old model does not know the header Expect; the others answer it with
100 Continue."""
import asyncio
import collections
import hashlib
import os
import signal
import sys

OLD = "old" in sys.argv[2:]
LOG = os.environ.get("VAULT_LOG")
documents = collections.OrderedDict()


class Vault(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.data = b""
        self.head = None

    def data_received(self, data):
        self.data += data
        while self.step():
            pass

    def step(self):
        if self.head is None:
            if b"\r\n\r\n" not in self.data:
                return False
            text, self.data = self.data.split(b"\r\n\r\n", 1)
            lines = text.decode("latin-1").split("\r\n")
            self.head = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
            self.method, self.path, _ = lines[0].split(" ")
            if "expect" in self.head and not OLD:
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        size = int(self.head.get("content-length", 0))
        if len(self.data) < size:
            return False
        body, self.data = self.data[:size], self.data[size:]
        if LOG:
            with open(LOG, "a") as f:
                f.write(f"{'old' if OLD else 'new'} {self.method} expect={self.head.get('expect')}\n")
        self.head = None
        if self.method == "PUT":
            documents[self.path] = body
            if len(documents) > 1000:
                documents.popitem(last=False)
            self.answer("201 Created", hashlib.sha256(body).hexdigest())
        else:
            self.answer("200 OK", str(len(documents)))
        return True

    def answer(self, status, text):
        body = text.encode() + b"\n"
        self.transport.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


async def main():
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await loop.create_server(Vault, "127.0.0.1", int(sys.argv[1]))
    await stop.wait()


asyncio.run(main())
