"""Asks another server several times for each page: front.py PORT UPSTREAM_PORT CALLS MODE

"one-by-one": each call follows the one before. "at-once": all together.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import local

import requests

PORT, UPSTREAM, CALLS, MODE = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
POOL = ThreadPoolExecutor(32)
LOCAL = local()


def call(number):
    if not hasattr(LOCAL, "session"):
        LOCAL.session = requests.Session()
    return LOCAL.session.get(f"http://127.0.0.1:{UPSTREAM}/{number}").status_code


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        numbers = range(CALLS)
        codes = map(call, numbers) if MODE == "one-by-one" else POOL.map(call, numbers)
        body = f"{sum(codes)}\n".encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
