"""A server that says in Server-Timing how long its parts took.

    timings.py PORT MODE

"db" sleeps 80 ms in its database for every 20th request, "quiet" says nothing, "healthy" is fast.
"""

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
served = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mode = ""

    def do_GET(self):
        global served
        with lock:
            served += 1
            count = served
        begun = time.perf_counter()
        if self.mode == "db" and count % 20 == 0:
            time.sleep(0.08)
        asked = time.perf_counter()
        body = b"ok\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if self.mode != "quiet":
            db, page = (asked - begun) * 1e3, (time.perf_counter() - asked) * 1e3
            self.send_header("Server-Timing", f'db;desc="rows, all";dur={db:.3f}, page;dur={page:.3f}')
            self.send_header("Server-Timing", "miss")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    port, Handler.mode = int(sys.argv[1]), sys.argv[2]
    ThreadingHTTPServer.request_queue_size = 1024
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


main()
