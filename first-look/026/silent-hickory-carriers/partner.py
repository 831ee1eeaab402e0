#!/usr/bin/env python3
"""partner.py PORT: the partners' price service."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Price(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlsplit(self.path).query)
        zone, grams = int(query["zone"][0]), int(query["grams"][0])
        body = json.dumps({"cents": 290 + zone * 11 + grams // 10}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Price).serve_forever()
