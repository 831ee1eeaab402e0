"""Tells a page what Uptime Kuma's client says: front.py PORT MONITOR_PORT WAIT_S

WAIT_S is the client's own option `wait_events`: how long it waits behind each event for another.
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from uptime_kuma_api import UptimeKumaApi

API = UptimeKumaApi(f"http://127.0.0.1:{sys.argv[2]}", wait_events=float(sys.argv[3]))
API.login("user", "secret")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = f"{len(API.info())}\n".encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def log_message(self, *_):
        pass


ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
