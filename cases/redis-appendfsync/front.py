"""Writes a key for each request: front.py PORT REDIS_PORT"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import redis

STORE = redis.Redis(port=int(sys.argv[2]))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        STORE.set(self.path, "x" * 100)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
