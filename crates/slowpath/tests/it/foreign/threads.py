"""A server with a thread for each connection, and one thread that sleeps under their lock.

    threads.py PORT MODE HOLD_MS PERIOD_MS

The mode is "lock", or "beside" for the same sleep without the lock.
"""

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served = 0

    def do_GET(self):
        with LOCK:
            Handler.served += 1
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


def flush_under_lock(hold_s):
    with LOCK:
        time.sleep(hold_s)


def flusher(mode, hold_s, period_s):
    while True:
        time.sleep(period_s)
        if mode == "lock":
            flush_under_lock(hold_s)
        else:
            time.sleep(hold_s)


def main():
    port, mode, hold_ms, period_ms = sys.argv[1:5]
    arguments = (mode, float(hold_ms) / 1e3, float(period_ms) / 1e3)
    threading.Thread(target=flusher, args=arguments, name="flusher", daemon=True).start()
    ThreadingHTTPServer.request_queue_size = 1024
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


main()
