# The carrier's tariff service: a far one, 130 ms for a list.
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Carrier(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        time.sleep(0.13)
        base = sum(self.path.encode()) % 7
        body = json.dumps([{"zone": z, "price": [round(2 + base + z * 0.5 + g * 0.35, 2) for g in range(40)]} for z in range(60)]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Carrier).serve_forever()
