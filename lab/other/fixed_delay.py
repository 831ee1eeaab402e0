"""A handler that sleeps for a constant time before it answers."""

import argparse
import json
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    delay_s = 0.0

    def do_GET(self):
        if self.delay_s > 0 and self.path != "/health":
            time.sleep(self.delay_s)
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
    parser.add_argument("--delay", type=float, default=0.013, help="seconds (default 0.013)")
    parser.add_argument("--healthy", action="store_true", help="do not sleep")
    options = parser.parse_args()
    Handler.delay_s = 0.0 if options.healthy else options.delay
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    cause = "none" if options.healthy else "fixed-delay"
    listening = "%s:%d" % server.server_address
    started = {"listening": listening, "cause": cause, "healthy": options.healthy}
    print(json.dumps(started), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
