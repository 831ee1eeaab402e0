"""The rate service (another team's): asks the bank for the rate, which takes its time."""
import hashlib, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Rates(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        time.sleep(float(sys.argv[2]))
        body = b"%.4f\n" % (0.5 + int(hashlib.md5(self.path.encode()).hexdigest()[:4], 16) / 65536)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

ThreadingHTTPServer.request_queue_size = 64
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Rates).serve_forever()
