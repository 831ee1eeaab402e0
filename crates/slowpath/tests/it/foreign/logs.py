"""A server that logs each request with what Python brings along, to a collector.

    logs.py PORT MODE COLLECTOR_PORT RECORDS

The mode is "buffered": records are kept and sent together, RECORDS at a time, by the handlers of
`logging.handlers`, which hold their lock meanwhile. Or "queued": a thread of `QueueListener` sends
them, each by itself, and no request waits for it.
"""

import logging
import logging.handlers
import queue
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = logging.getLogger("pages")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        LOG.info("GET %s", self.path)
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


def main():
    port, mode, collector, records = sys.argv[1:5]
    remote = logging.handlers.HTTPHandler(f"127.0.0.1:{collector}", "/logs", method="POST")
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    if mode == "buffered":
        LOG.addHandler(logging.handlers.MemoryHandler(int(records), target=remote))
    else:
        records = queue.SimpleQueue()
        LOG.addHandler(logging.handlers.QueueHandler(records))
        logging.handlers.QueueListener(records, remote).start()
    ThreadingHTTPServer.request_queue_size = 1024
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


main()
