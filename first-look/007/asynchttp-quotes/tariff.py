"""The tariff service (another team's): a tariff is at hand, the sum of a year is asked from its archive."""
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Tariff(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        kind, number = self.path.strip("/").split("/")
        if kind == "yearly":
            time.sleep(0.12)
        body = b"%d cents\n" % (390 + int(number) * 7 % 911)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

ThreadingHTTPServer.request_queue_size = 64
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tariff).serve_forever()
