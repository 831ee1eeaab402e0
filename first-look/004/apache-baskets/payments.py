"""The payment provider's sandbox: authorises after a while."""
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Payments(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(float(sys.argv[2]))
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\nConnection: close\r\n\r\nauthorised")
        self.close_connection = True
    def log_message(self, *a): pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Payments).serve_forever()
