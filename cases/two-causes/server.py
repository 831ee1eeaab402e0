"""A server of threads with the faults that its command line names: server.py PORT FAULT...

Prints at its end how long requests waited for each of them, in seconds, as it saw it itself.
"""

import os
import random
import signal
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(sys.argv[1])
FAULTS = set(sys.argv[2:])

LOCK = threading.Lock()
TRUTH = dict.fromkeys(sys.argv[2:], 0.0)
CACHE = {}
SLEEP_ONE_IN = int(os.environ.get("SLEEP_ONE_IN", "15"))
SERVED = 0


def flush():
    """Sleeps with the lock that every request takes."""
    while True:
        time.sleep(0.4)
        with LOCK:
            time.sleep(0.06)


def waited(fault, began):
    TRUTH[fault] += time.monotonic() - began


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536

    def do_GET(self):
        global SERVED
        SERVED += 1
        own = SERVED
        if "flush" in FAULTS:
            began = time.monotonic()
            with LOCK:
                pass
            waited("flush", began)
        if "sleep" in FAULTS and own % SLEEP_ONE_IN == 0:
            began = time.monotonic()
            time.sleep(0.07)
            waited("sleep", began)
        if "expiry" in FAULTS:
            began = time.monotonic()
            if CACHE.get(self.path, 0) < began - 1.6:
                time.sleep(random.uniform(0.03, 0.06))
                CACHE[self.path] = time.monotonic()
                waited("expiry", began)
        if "upstream" in FAULTS and own % 12 == 0:
            began = time.monotonic()
            with socket.create_connection(("127.0.0.1", UPSTREAM)) as peer:
                peer.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                while peer.recv(4096):
                    pass
            waited("upstream", began)
        body = b"x" * 300
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if "parts" in FAULTS:
            # Two small segments: the second waits until the first is acknowledged.
            self.end_headers()
            self.wfile.flush()
            self.wfile.write(body)
            self.wfile.flush()
        else:
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True


def stop(*_):
    print({fault: round(seconds, 3) for fault, seconds in TRUTH.items()}, flush=True)
    sys.exit(0)


if __name__ == "__main__":
    for place, word in enumerate(sys.argv):
        if word.startswith("upstream="):
            UPSTREAM = int(word.split("=")[1])
            FAULTS.add("upstream")
            TRUTH["upstream"] = TRUTH.pop(word, 0.0)
    signal.signal(signal.SIGTERM, stop)
    if "flush" in FAULTS:
        threading.Thread(target=flush, name="flush", daemon=True).start()
    if "parts" not in FAULTS:
        Handler.disable_nagle_algorithm = True
    Server(("127.0.0.1", PORT), Handler).serve_forever()
