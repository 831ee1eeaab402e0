# the accounts service: own accounts from memory, accounts of partners from the partner's directory
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Accounts(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/accounts/partner-"):
            time.sleep(0.18)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


ThreadingHTTPServer.request_queue_size = 64
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Accounts).serve_forever()
