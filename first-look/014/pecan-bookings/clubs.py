"""Calendar service of the partner clubs: a small threaded server. One answer takes 110 to 130 ms."""
import sys, time, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        club = int(self.path.rsplit("/", 1)[-1])
        time.sleep(0.110 + 0.010 * (club % 3))
        body = json.dumps({"club": club, "free": [100000 + club]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a):
        pass

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
