"""AIS service: positions at once; the calls of a port need the port's own system, about 100 ms."""
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        kind, _, name = self.path[1:].partition("/")
        if kind == "calls":
            time.sleep(0.1)
            data = [{"ship": "MV Example %d" % i, "berth": i % 5} for i in range(6)]
        else:
            data = {"lat": 51.2, "lon": 3.4, "knots": 12}
        body = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *a):
        pass

class S(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

S(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
