# responder.py PORT FILE WAIT: answers with the stored OCSP response; every sixth lookup goes to the archive and takes WAIT s
import itertools
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = open(sys.argv[2], "rb").read()
WAIT = float(sys.argv[3])
count = itertools.count(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if next(count) % 6 == 0:
            time.sleep(WAIT)
        self.send_response(200)
        self.send_header("Content-Type", "application/ocsp-response")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(ANSWER)

    do_POST = do_GET

    def log_message(self, *a):
        pass


ThreadingHTTPServer.request_queue_size = 128
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
