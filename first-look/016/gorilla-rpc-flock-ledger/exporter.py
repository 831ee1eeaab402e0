#!/usr/bin/env python3
"""exporter.py PORT DIR: ships the journal to the accounting system's drop folder.

Takes the journal's file lock, moves what was written since the last time away,
packs it together with the day's index, and gives the lock back. Answers on PORT with
the number of shipments."""
import fcntl, http.server, os, signal, sys, threading, time, zlib

port, folder = int(sys.argv[1]), sys.argv[2]
os.makedirs(folder, exist_ok=True)
lock = open(os.path.join(folder, "journal.lock"), "a+")
journal = os.path.join(folder, "journal.jsonl")
index = b"".join(b"%08d;%d;account-%d\n" % (i, i * 7919 % 99991, i % 97) for i in range(12500))
shipped = 0


def ship():
    global shipped
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        part = b""
        if os.path.exists(journal):
            os.rename(journal, journal + ".part")
            with open(journal + ".part", "rb") as f:
                part = f.read()
        packed = zlib.compress(index + part, 4)
        with open(os.path.join(folder, "drop.z"), "wb") as f:
            f.write(packed)
        shipped += 1
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)


class Status(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"%d\n" % shipped)

    def log_message(self, *a):
        pass


signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
web = http.server.ThreadingHTTPServer(("127.0.0.1", port), Status)
threading.Thread(target=web.serve_forever, daemon=True).start()
while True:
    t0 = time.monotonic()
    ship()
    if os.environ.get("EXPORTER_TIMING"):
        print("held %.1f ms" % ((time.monotonic() - t0) * 1000), flush=True)
    time.sleep(0.11)
