"""log ingest of the region: acknowledges a batch when both replicas have it (about 0.43 s)"""
import random
import signal
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
rnd = random.Random(5)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        n = int(self.headers["content-length"])
        while n:
            n -= len(self.rfile.read(min(n, 65536)))
        time.sleep(0.40 + 0.06 * rnd.random())
        self.send_response(202)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
