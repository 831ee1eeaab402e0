"""The log store: takes batches of lines over HTTP and answers when they are in its index."""
import os, random, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, shared = int(sys.argv[1]), sys.argv[2]
os.makedirs(shared, exist_ok=True)
for name in os.listdir(shared):
    os.unlink(os.path.join(shared, name))
with open(os.path.join(shared, "collector.port"), "w") as f:
    f.write(str(port))


class Store(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        left = int(self.headers["content-length"])
        while left > 0:
            left -= len(self.rfile.read(min(left, 1 << 16)))
        time.sleep(random.uniform(0.38, 0.42))       # written and acknowledged in another region
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", port), Store).serve_forever()
