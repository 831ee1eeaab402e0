"""Renders a page in 25 ms of CPU time, one at a time: backend.py PORT"""

import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        end = time.thread_time() + 0.025
        while time.thread_time() < end:
            pass
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *_):
        pass


HTTPServer.request_queue_size = 1024
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
