# the stock application of a builders' merchant, Python's threading HTTP server: an article's stock at once,
# a delivery date after the supplier's own system has answered (argument 2, seconds)
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

supplier = float(sys.argv[2])
stock = {n: n * 37 % 900 for n in range(5000)}

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        kind, _, rest = self.path.lstrip("/").partition("/")
        n = int(rest or 0)
        body = {"article": n, "stock": stock[n % 5000]}
        if kind == "delivery":
            time.sleep(supplier)
            body["days"] = n % 9 + 1
        if kind == "shelf":
            body["articles"] = [[i, stock[i % 5000]] for i in range(n, n + 800)]
        out = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def log_message(self, *a):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
