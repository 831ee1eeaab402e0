"""The carrier: answers in a few ms, except while its own data centre hangs (HANG_S of every PERIOD_S seconds)."""
import os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HANG, PERIOD = float(os.environ.get("HANG_S", "0")), float(os.environ.get("PERIOD_S", "2"))

class Carrier(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1            # head and body in one write
    def do_GET(self):
        time.sleep(3 if time.monotonic() % PERIOD < HANG else 0.004)
        body = b"tomorrow\n"
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass
    def log_message(self, *a): pass

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
Server(("127.0.0.1", int(sys.argv[1])), Carrier).serve_forever()
