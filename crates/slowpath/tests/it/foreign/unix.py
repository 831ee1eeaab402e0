"""A server that asks a database over a Unix socket, and that database.

    unix.py database PORT PATH
    unix.py ask PORT PATH MODE

The database answers a question, which is a number of milliseconds, when these are over. The mode is "one" (each
request asks once, for 30 ms), "row" (eight times, for 6 ms each), "pool" (once for 25 ms, over two
connections that all threads share) or "beside" (once for no time, and it sleeps itself).
"""

import os
import queue
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer, ThreadingUnixStreamServer

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
OWN = threading.local()
SHARED = queue.Queue()


class Database(BaseRequestHandler):
    def handle(self):
        while question := self.request.recv(64):
            time.sleep(int(question) / 1e3)
            self.request.sendall(b"done")


def ask(connection, milliseconds):
    connection.sendall(b"%d" % milliseconds)
    connection.recv(64)


def connect(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path)
    return connection


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    path_of_database = mode = ""

    def setup(self):
        super().setup()
        if self.mode != "pool":
            OWN.connection = connect(self.path_of_database)

    def do_GET(self):
        if self.mode == "one":
            ask(OWN.connection, 30)
        elif self.mode == "row":
            for _ in range(8):
                ask(OWN.connection, 6)
        elif self.mode == "pool":
            connection = SHARED.get()
            ask(connection, 25)
            SHARED.put(connection)
        else:
            ask(OWN.connection, 0)
            time.sleep(0.03)
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


def main():
    what, port, path = sys.argv[1:4]
    if what == "database":
        if os.path.exists(path):
            os.unlink(path)
        server = ThreadingUnixStreamServer(path, Database)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        # Its port shows that it is there.
        ThreadingTCPServer.allow_reuse_address = True
        ThreadingTCPServer(("127.0.0.1", int(port)), Database).serve_forever()
    Handler.path_of_database, Handler.mode = path, sys.argv[4]
    if Handler.mode == "pool":
        for _ in range(2):
            SHARED.put(connect(path))
    ThreadingHTTPServer.request_queue_size = 1024
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


main()
