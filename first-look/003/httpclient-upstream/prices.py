"""prices.py PORT [buffered]: price server made of the standard library."""
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Prices(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    if len(sys.argv) > 2 and sys.argv[2] == "buffered":
        wbufsize = -1

    def do_POST(self):
        basket = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if "coupon" not in basket:           # nothing to take off
            self.send_response(204)
            self.end_headers()
            return
        body = b'{"total": 12.5, "coupon": true}\n'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Prices).serve_forever()
