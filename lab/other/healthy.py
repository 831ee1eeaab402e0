"""A fast handler: the whole response is one write, and TCP_NODELAY is set as well."""

import argparse
import json
import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = b"hello\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        self.wfile.write(RESPONSE)


class Server(ThreadingHTTPServer):
    request_queue_size = 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = Server(("127.0.0.1", options.port), Handler)
    listening = "%s:%d" % server.server_address
    print(json.dumps({"listening": listening, "cause": "none", "healthy": True}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
