"""Reads a row for each request while a batch is written now and then.

    server.py PORT FOLDER MODE BATCH

"shared": all threads use one connection, whose mutex SQLite holds while a statement runs.
"own": each thread has a connection, and the database a write-ahead log.
A batch sums up as many rows as BATCH says.
"""

import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, FOLDER, MODE, BATCH = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
ROWS = 2000
LOCAL = threading.local()


def connect():
    connection = sqlite3.connect(
        f"{FOLDER}/shop.db", check_same_thread=False, isolation_level=None, timeout=10
    )
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    return connection


SHARED = connect()
SHARED.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, price REAL)")
SHARED.execute("CREATE TABLE total (at REAL, price REAL)")
SHARED.executemany("INSERT INTO item VALUES (?, ?)", [(i, i * 0.5) for i in range(ROWS)])


def connection():
    if MODE == "shared":
        return SHARED
    if not hasattr(LOCAL, "connection"):
        LOCAL.connection = connect()
    return LOCAL.connection


def batch():
    while True:
        time.sleep(0.4)
        connection().execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
            "INSERT INTO total SELECT 0, sum(i % 7) FROM n",
            (BATCH,),
        )


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[-1] or 0) % ROWS
        price = connection().execute("SELECT price FROM item WHERE id = ?", (number,)).fetchone()
        body = f"{price[0]}\n".encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def log_message(self, *_):
        pass


threading.Thread(target=batch, name="batch", daemon=True).start()
ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
