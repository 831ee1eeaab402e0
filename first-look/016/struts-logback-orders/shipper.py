#!/usr/bin/env python3
"""shipper.py PORT LOG: ships the orders log to the archive.

The log is shared by several writers, so the shipper takes its lock (fcntl, as
Java's FileChannel.lock does) and packs the day's log so far into the archive.
Answers on PORT with the number of runs."""
import fcntl, http.server, os, signal, sys, threading, time, zlib

port, log = int(sys.argv[1]), sys.argv[2]
day = b"".join(b"%02d:%02d:%02d.%03d INFO  o.OrderAction - order %d of %d lines, %d cents, seen\n"
               % (i // 9000, i // 150 % 60, i * 7 % 60, i * 37 % 1000, i * 7919 % 99991, i % 7, i * 31 % 90000) for i in range(130000))
runs = 0


def ship():
    global runs
    with open(log, "r+b") as f:
        fcntl.lockf(f, fcntl.LOCK_EX)
        t0 = time.monotonic()
        try:
            packed = zlib.compress(day + f.read(), 2)
            with open(log + ".z", "wb") as out:
                out.write(packed)
            runs += 1
        finally:
            held = time.monotonic() - t0
            fcntl.lockf(f, fcntl.LOCK_UN)
    if os.environ.get("ORDERS_TIMING"):
        print("shipper held %.1f ms" % (held * 1000), flush=True)


class Status(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"%d\n" % runs)

    def log_message(self, *a):
        pass


signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
web = http.server.ThreadingHTTPServer(("127.0.0.1", port), Status)
threading.Thread(target=web.serve_forever, daemon=True).start()
while True:
    if os.path.exists(log):
        ship()
    time.sleep(0.55)
