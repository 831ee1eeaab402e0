"""The carrier's booking system: far away, 75 to 115 ms for an answer."""
import json
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Sailings(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        time.sleep(random.uniform(0.075, 0.115))
        route = int(self.path.rsplit("/", 1)[1])
        body = json.dumps({"cents": 3900 + route * 17 % 8000, "cabins": random.randrange(90)}).encode()
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        ).encode()
        self.wfile.write(head + body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Sailings).serve_forever()
