"""Logs each request with what Python brings along, to a collector.

    server.py PORT MODE COLLECTOR_PORT

"buffered": MemoryHandler keeps 20 records and sends them by HTTPHandler, under its lock.
"queued": QueueListener sends them from a thread of its own.
"""

import logging
import logging.handlers
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = logging.getLogger("pages")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        LOG.info("GET %s", self.path)
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")

    def log_message(self, *_):
        pass


def main():
    port, mode, collector = sys.argv[1:4]
    remote = logging.handlers.HTTPHandler(f"127.0.0.1:{collector}", "/logs", method="POST")
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    if mode == "buffered":
        LOG.addHandler(logging.handlers.MemoryHandler(20, target=remote))
    else:
        records = queue.SimpleQueue()
        LOG.addHandler(logging.handlers.QueueHandler(records))
        logging.handlers.QueueListener(records, remote).start()
    ThreadingHTTPServer.request_queue_size = 1024
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


main()
