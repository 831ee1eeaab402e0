"""The storage array's HTTP interface: a snapshot of a volume takes 90 to 150 ms."""
import os, random, signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Storage(BaseHTTPRequestHandler):
    def do_POST(self):
        time.sleep(random.uniform(0.09, 0.15))
        body = b'{"state": "done"}'
        self.send_response(201)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Storage).serve_forever()
