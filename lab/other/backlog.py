"""An HTTPServer with Python's own queue of 5, which handles one connection after the other: a
burst of new connections finds the accept queue full."""

import argparse
import json
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    # HTTP/1.0, as by default: the connection ends with its response.
    handle_s = 0.0

    def do_GET(self):
        if self.path != "/health":
            time.sleep(self.handle_s)
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
    parser.add_argument("--backlog", type=int, default=5)
    parser.add_argument("--handle-ms", type=float, default=3.0)
    parser.add_argument("--healthy", action="store_true", help="long queue, a thread each")
    options = parser.parse_args()
    Handler.handle_s = options.handle_ms / 1e3
    kind = ThreadingHTTPServer if options.healthy else HTTPServer
    kind.request_queue_size = 1024 if options.healthy else options.backlog
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = kind(("127.0.0.1", options.port), Handler)
    cause = "none" if options.healthy else "accept-queue-overflow"
    listening = "%s:%d" % server.server_address
    started = {"listening": listening, "cause": cause, "healthy": options.healthy}
    print(json.dumps(started), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
