#!/usr/bin/env python3
"""shop.py PORT DATABASE: brochure shop, only reached through the relay in front of it.

A card is put together and sent in one piece. A page of the list is sent as it is made: the head of
the response first, the rows when the query has them."""
import json
import sqlite3
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

local = threading.local()


def rows(query, *values):
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
    return local.db.execute(query, values)


class Shop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # on its own side, towards the relay

    def do_GET(self):
        part = self.path.strip("/").split("/")
        if part[0] == "brochures":
            self.whole(rows("select id, title, pages, stock from brochure where id = ?", int(part[1])).fetchone())
        elif part[0] == "topics":
            self.streamed(int(part[1]))
        else:
            self.whole("ok")

    def whole(self, value):
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def streamed(self, topic):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        found = rows("select id, title, pages from brochure where topic = ? order by title limit 40", topic).fetchall()
        body = "".join(json.dumps(row) + "\n" for row in found).encode()
        self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
