"""Log relay of the host: reads the syslog socket (datagrams) and forwards the lines in batches.

arguments: port for the health check, folder of log.sock, port of the collector, forward (inline or thread)
"""
import os
import queue
import signal
import socket
import sys
import threading
import time

port, folder, collector, forward = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
EVERY = 0.5
stat = {"lines": 0, "batches": 0}


def end(*_):
    if os.environ.get("RELAY_LOG"):
        with open(os.environ["RELAY_LOG"], "a") as out:
            print("relay", forward, stat, file=out)
    os._exit(0)


signal.signal(signal.SIGTERM, end)
while True:
    try:
        central = socket.create_connection(("127.0.0.1", collector))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
central.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
replies = central.makefile("rb")
os.chdir(folder)
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
if os.path.exists("log.sock"):
    os.unlink("log.sock")
log.bind("log.sock")
log.settimeout(0.05)
batches = queue.Queue()


def send(batch):
    data = b"\n".join(batch)
    central.sendall(b"%d\n" % len(data) + data)
    replies.readline()
    stat["batches"] += 1


def forwarder():
    while True:
        send(batches.get())


def health():
    server = socket.create_server(("127.0.0.1", port))
    while True:
        server.accept()[0].close()


threading.Thread(target=health, daemon=True).start()
threading.Thread(target=forwarder, daemon=True).start()
batch, due = [], time.monotonic() + EVERY
while True:
    try:
        batch.append(log.recv(8192))
        stat["lines"] += 1
    except TimeoutError:
        pass
    if batch and time.monotonic() >= due:
        if forward == "inline":
            send(batch)
        else:
            batches.put(batch)
        batch, due = [], time.monotonic() + EVERY
