"""The company's audit collector: takes an event, writes it down, says 204 after some time.

collector.py PORT SECONDS
"""
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

delay = float(sys.argv[2])


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(delay)  # two copies in two towns
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Collector).serve_forever()
