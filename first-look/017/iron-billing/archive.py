"""Log archive: takes uploads; each third one completes a segment, which is copied to the second site before it is confirmed."""
import signal, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

uploads = 0


class Archive(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        global uploads
        self.rfile.read(int(self.headers["content-length"]))
        uploads += 1
        if uploads % 3 == 0:
            time.sleep(0.43)        # the second site is far away
        self.send_response(201)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


signal.signal(signal.SIGTERM, lambda *a: sys.exit(0))
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Archive).serve_forever()
