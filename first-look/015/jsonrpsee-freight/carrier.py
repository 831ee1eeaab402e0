"""The carrier's API: quotes are computed at once, a shipment's place is asked from the carrier's depot (25 ms away)."""
import json, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        t = time.perf_counter()
        _, kind, key = self.path.split("/")
        if kind == "shipments":
            time.sleep(0.025)
            doc = {"shipment": key, "place": "depot %d" % (int(key) % 5)}
        else:
            doc = {"parcel": key, "cents": 390 + int(key) % 17 * 45}
        doc["took"] = round((time.perf_counter() - t) * 1e3, 1)
        body = json.dumps(doc).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    def log_message(self, *a):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128


Server(("127.0.0.1", int(sys.argv[1])), Api).serve_forever()
