"""A server that has a lead in its profile: one function computes.

    python3 hot.py PORT
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def scramble(rounds):
    total = 1
    for i in range(rounds):
        total = (total * 31 + i) & 0xFFFFFFFF
    return total


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = str(scramble(60_000)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
