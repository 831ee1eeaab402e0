# the carrier's tracking service; every REFUSE-th call is refused with 503 (0: none)
import itertools
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUSE = int(os.environ.get("REFUSE", "0"))
calls = itertools.count(1)

class Tracking(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True

    def do_GET(self):
        kind, number = self.path.strip("/").split("/")
        status = 200
        if REFUSE and next(calls) % REFUSE == 0:
            status, body = 503, {"error": "busy"}
        elif kind == "state":
            body = {"state": "on its way", "depot": int(number) % 90}
        else:
            body = {"scans": [{"depot": (int(number) + i) % 90, "at": 1700000000 + 600 * i} for i in range(60)]}
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        if REFUSE and args[2] == "503":
            sys.stderr.write("refused %s\n" % args[1])

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Tracking).serve_forever()
