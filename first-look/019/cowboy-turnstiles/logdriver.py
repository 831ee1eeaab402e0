"""The platform's log driver in its blocking mode: reads the container's stdout and puts the lines in
batches (1 MiB or 0.5 s, what comes first) to the log ingest of the region; while a batch is not
acknowledged nothing is read from the pipe.  The port answers the platform's health check."""
import http.client
import os
import select
import signal
import socket
import sys
import time

port, fifo, ingest = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
health = socket.socket()
health.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
health.bind(("127.0.0.1", port))
health.listen(16)
fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
conn = None
LIMIT, PERIOD = 1048576, 0.5
trace = open(os.environ["TRACE_DRIVER"], "a") if "TRACE_DRIVER" in os.environ else None
batch, size, since = [], 0, time.monotonic()


def put(data):
    global conn
    for _ in range(2):
        try:
            if conn is None:
                conn = http.client.HTTPConnection("127.0.0.1", ingest, timeout=10)
            conn.request("POST", "/v1/batches", data)
            conn.getresponse().read()
            return
        except OSError:
            conn = None


while True:
    left = max(0.0, since + PERIOD - time.monotonic())
    ready, _, _ = select.select([fd, health], [], [], left)
    if health in ready:
        c, _ = health.accept()
        c.close()
    if fd in ready:
        data = os.read(fd, 65536)
        if not batch:
            since = time.monotonic()
        batch.append(data)
        size += len(data)
    if size >= LIMIT or (batch and time.monotonic() - since >= PERIOD):
        t = time.monotonic()
        put(b"".join(batch))
        if trace:  # our own check
            print(f"{t:.3f} {size} bytes, {time.monotonic() - t:.3f} s", file=trace, flush=True)
        batch, size = [], 0
        since = time.monotonic()
    elif not batch:
        since = time.monotonic()
