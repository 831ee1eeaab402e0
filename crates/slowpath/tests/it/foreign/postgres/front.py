"""A server before PostgreSQL: each connection of a client has a connection to the database.

    front.py PORT DATABASE_PORT MODE HOLD_MS PERIOD_MS

Each request reads a row. In the mode "lock" it updates the row, and a thread in the background
updates it too and sleeps HOLD_MS before it commits, after each pause of PERIOD_MS; in the mode
"beside" that transaction is about another row.
"""

import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, DATABASE_PORT, MODE, HOLD_MS, PERIOD_MS = sys.argv[1:6]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
SERVED = "UPDATE served SET n = n + 1 WHERE id = 1" if MODE == "lock" else "SELECT n FROM served"
FLUSHED = 1 if MODE == "lock" else 2


class Database:
    """The simple query protocol, version 3, as far as it is needed here."""

    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", int(DATABASE_PORT)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")
        parameters = b"user\0lab\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!ii", 8 + len(parameters), 196608) + parameters)
        self.finish()

    def finish(self):
        """Reads up to ReadyForQuery; an error of the database is ours."""
        while True:
            kind, length = struct.unpack("!ci", self.file.read(5))
            body = self.file.read(length - 4)
            if kind == b"E":
                raise RuntimeError(body)
            if kind == b"Z":
                return

    def query(self, text):
        text = text.encode() + b"\0"
        self.socket.sendall(struct.pack("!ci", b"Q", 4 + len(text)) + text)
        self.finish()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.database = Database()

    def do_GET(self):
        self.database.query(SERVED)
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


def flusher():
    database = Database()
    while True:
        time.sleep(float(PERIOD_MS) / 1e3)
        database.query("BEGIN")
        database.query(f"UPDATE served SET n = 0 WHERE id = {FLUSHED}")
        time.sleep(float(HOLD_MS) / 1e3)
        database.query("COMMIT")


Database().query("CREATE TABLE served AS SELECT id, 0 AS n FROM generate_series(1, 2) AS id")
threading.Thread(target=flusher, name="flusher", daemon=True).start()
ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler).serve_forever()
