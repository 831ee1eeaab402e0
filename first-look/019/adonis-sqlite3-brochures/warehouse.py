"""Sync of the audit rows to the data warehouse, as a process of its own beside the shop.  Each 0.9 s: takes the
write lock of audit.sqlite, sends the rows that are not sent yet to the warehouse (at the head office, it answers after
about 0.17 s), marks them as sent and commits.  The port answers the platform's health check."""
import os
import random
import signal
import socket
import sqlite3
import sys
import threading
import time

port, path = int(sys.argv[1]), sys.argv[2]
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
db = sqlite3.connect(path, isolation_level=None, timeout=5)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = NORMAL")
db.execute("CREATE TABLE views (id INTEGER PRIMARY KEY, at INTEGER, method TEXT, url TEXT, ip TEXT, sent INTEGER NOT NULL DEFAULT 0)")
db.execute("CREATE INDEX views_unsent ON views (id) WHERE sent = 0")
health = socket.socket()
health.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
health.bind(("127.0.0.1", port))
health.listen(16)
office = socket.socket()
office.bind(("127.0.0.1", 0))
office.listen(4)
rnd = random.Random(3)


def checks():
    while True:
        health.accept()[0].close()


def head_office():
    c, _ = office.accept()
    while True:
        n = int.from_bytes(c.recv(4, socket.MSG_WAITALL), "big")
        while n:
            n -= len(c.recv(min(n, 65536)))
        time.sleep(0.15 + 0.03 * rnd.random())
        c.sendall(b"ok")


threading.Thread(target=checks, daemon=True).start()
threading.Thread(target=head_office, daemon=True).start()
link = socket.create_connection(office.getsockname())
while True:
    time.sleep(0.6 + 0.1 * rnd.random())
    db.execute("BEGIN IMMEDIATE")
    rows = db.execute("SELECT id, at, method, url, ip FROM views WHERE sent = 0 ORDER BY id LIMIT 500").fetchall()
    if rows:
        data = repr(rows).encode()
        link.sendall(len(data).to_bytes(4, "big") + data)
        link.recv(2)
        db.execute("UPDATE views SET sent = 1 WHERE sent = 0 AND id <= ?", (rows[-1][0],))
    db.execute("COMMIT")
