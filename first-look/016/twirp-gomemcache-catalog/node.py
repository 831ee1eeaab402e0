#!/usr/bin/env python3
"""node.py PORT: a memcached node whose process hangs (as with its memory on a dead disk):
the kernel still takes connections and bytes, nothing reads or answers them."""
import os, signal, socket, sys, threading

signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1])))
s.listen(4096)
held = []


def take():
    while True:
        c, _ = s.accept()
        held.append(c)  # never read
        if len(held) > 200:
            held.pop(0).close()


threading.Thread(target=take, daemon=True).start()
while True:
    signal.pause()
