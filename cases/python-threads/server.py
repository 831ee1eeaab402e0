"""Pages that are ready, and reports that compute: in the thread that serves them, or in a process of their own.

server.py PORT compute|process ROUNDS
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, MODE, ROUNDS = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])


def report(rounds):
    total = 0
    for number in range(rounds):
        total = (total * 31 + number) & 0xFFFF
    return total


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        body = b"ok\n"
        if self.path == "/report":
            total = report(ROUNDS) if MODE == "compute" else pool.submit(report, ROUNDS).result()
            body = b"%d\n" % total
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    pool = ProcessPoolExecutor(1) if MODE == "process" else None
    if pool:
        pool.submit(report, 1).result()
    Server(("127.0.0.1", PORT), Handler).serve_forever()
