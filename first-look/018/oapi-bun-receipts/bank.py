"""The bank's statement service: a page of new booking lines takes it about 30 ms."""
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGES = 4

class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self):
        page = int(parse_qs(urlsplit(self.path).query).get("page", ["0"])[0])
        time.sleep(0.03)
        lines = [{"ref": "P%d-%d" % (page, i), "cents": 1000 + i} for i in range(4)]
        body = json.dumps({"lines": lines, "more": page + 1 < PAGES}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *a):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()
