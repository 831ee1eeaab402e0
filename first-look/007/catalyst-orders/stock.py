"""The stock service of the warehouse: says how many are in the shelf, after asking the shelf."""
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Stock(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        time.sleep(float(sys.argv[2]))
        body = b"%d" % (int(self.path.rsplit("/", 1)[1]) * 17 % 61)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

ThreadingHTTPServer.request_queue_size = 64
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Stock).serve_forever()
