"""A small syslog daemon on a Unix datagram socket, as they run beside a service: it takes the records and ships
them in batches, every 0.6 s, to the collector. One loop for both.

logd.py PORT SOCKET COLLECTOR_PORT          (PORT: how many records were taken and shipped)
"""
import http.client
import os
import signal
import socket
import sys
import threading
import time

port, path, collector = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
SHIP_EVERY = 0.6
counts = {"taken": 0, "shipped": 0}
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))


def status():
    server = socket.create_server(("127.0.0.1", port))
    while True:
        connection, _ = server.accept()
        try:
            connection.sendall(("%(taken)d taken, %(shipped)d shipped\n" % counts).encode())
        except OSError:
            pass
        connection.close()


def main():
    records = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    records.bind(path)
    threading.Thread(target=status, daemon=True).start()
    upstream = http.client.HTTPConnection("127.0.0.1", collector)
    batch = []
    due = time.monotonic() + SHIP_EVERY
    while True:
        records.settimeout(max(0.001, due - time.monotonic()))
        try:
            batch.append(records.recv(8192))
            counts["taken"] += 1
        except TimeoutError:
            pass
        if time.monotonic() >= due:
            if batch:
                upstream.request("POST", "/batches", b"\n".join(batch))
                upstream.getresponse().read()
                counts["shipped"] += len(batch)
                batch.clear()
            due = time.monotonic() + SHIP_EVERY


main()
