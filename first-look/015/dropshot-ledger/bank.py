"""The bank's rate service: a quote is made by the bank's desk and takes about 100 ms to come back."""
import json, random, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(random.uniform(0.09, 0.11))
        body = json.dumps({"rate": round(random.uniform(0.92, 0.97), 5)}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Desk).serve_forever()
