"""Stock service of the shops: a small threaded server. Each answer takes 6 ms.
GET /stock/ARTICLE/SHOP       one shop
GET /stock/ARTICLE?shops=1,2  many shops in one answer"""
import os, sys, time, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

log = open(os.environ["STOCK_LOG"], "a", buffering=1) if os.environ.get("STOCK_LOG") else None

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        begin = time.monotonic()
        time.sleep(0.006)
        path, _, query = self.path.partition("?")
        parts = path.strip("/").split("/")
        shops = query[len("shops="):].split(",") if query else [parts[2]]
        body = json.dumps([int(s) * int(parts[1]) % 9 for s in shops]).encode()
        head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
        self.wfile.write(head.encode() + body)
        if log:
            log.write("%s %.1f\n" % (self.path, (time.monotonic() - begin) * 1000))
    def log_message(self, *a):
        pass

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
