#!/usr/bin/env python3
"""HTTP front of the archive appliance (WORM store), as far as the gateway needs it.

PUT /objects/ID keeps an object and answers with its receipt. The appliance's
HTTP stack speaks HTTP/1.1 with chunked uploads, but knows nothing of
"Expect: 100-continue": it reads the body and then answers.
"""
import hashlib
import os
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TRACE = os.environ.get("ARCHIVE_TRACE")


class Archive(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "worm/2.4"
    wbufsize = -1
    disable_nagle_algorithm = True

    def handle_expect_100(self):
        return True

    def read_body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))
        parts = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            if size == 0:
                while self.rfile.readline() not in (b"\r\n", b"\n", b""):
                    pass
                return b"".join(parts)
            parts.append(self.rfile.read(size))
            self.rfile.readline()

    def do_PUT(self):
        body = self.read_body()
        receipt = hashlib.sha256(body).hexdigest()[:24].encode()
        if TRACE:
            print("put", self.path, len(body), "expect=%s" % self.headers.get("Expect"), file=sys.stderr, flush=True)
        self.send_response(201)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(receipt)))
        self.end_headers()
        self.wfile.write(receipt)
        self.wfile.flush()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    address_family = socket.AF_INET


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Archive).serve_forever()
