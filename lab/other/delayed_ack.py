"""Python's http.server as it comes, only with keep-alive: headers and body are two writes, and
Nagle's algorithm holds the second until the client acknowledges the first."""

import argparse
import json
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
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
    parser.add_argument("--healthy", action="store_true", help="set TCP_NODELAY")
    options = parser.parse_args()
    if options.healthy:
        Handler.disable_nagle_algorithm = True
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    cause = "none" if options.healthy else "delayed-ack"
    listening = "%s:%d" % server.server_address
    started = {"listening": listening, "cause": cause, "healthy": options.healthy}
    print(json.dumps(started), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
