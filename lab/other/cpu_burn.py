"""A thread for each connection and CPU work for each request: the interpreter runs one at a time,
so that one CPU is all there is."""

import argparse
import json
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    burn_s = 0.0

    def do_GET(self):
        if self.path != "/health":
            end_s = time.thread_time() + self.burn_s
            while time.thread_time() < end_s:
                sum(range(100))
        body = b"hello\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--burn-ms", type=float, default=5.0)
    parser.add_argument("--healthy", action="store_true", help="burn 0.2 ms")
    options = parser.parse_args()
    Handler.burn_s = (0.2 if options.healthy else options.burn_ms) / 1e3
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    cause = "none" if options.healthy else "cpu-saturation"
    listening = "%s:%d" % server.server_address
    started = {"listening": listening, "cause": cause, "healthy": options.healthy}
    print(json.dumps(started), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
