"""Member profiles: gevent.pywsgi, memcached through pymemcache's HashClient, SQLite behind it."""
from gevent import monkey
monkey.patch_all()
import json
import os
import signal
import socket
import sqlite3
import time

import gevent
from gevent.pywsgi import WSGIServer
from pymemcache.client.hash import HashClient
from pymemcache import serde

TRACE = os.environ.get("TRACE_FILE")
trace = open(TRACE, "a", buffering=1) if TRACE else None

nodes = []
for item in os.environ["MEMCACHED_NODES"].split(","):
    host, port = item.rsplit(":", 1)
    nodes.append((host, int(port)))

cache = HashClient(
    nodes,
    use_pooling=True,
    max_pool_size=32,
    connect_timeout=0.12,
    timeout=0.12,
    no_delay=True,
    retry_attempts=0,
    dead_timeout=0.35,
    ignore_exc=True,
    serde=serde.pickle_serde,
)
db = sqlite3.connect(os.environ["DB_FILE"])


def load_profile(ident):
    row = db.execute("select id, name, city, bio from profile where id = ?", (ident,)).fetchone()
    return dict(zip(("id", "name", "city", "bio"), row)) if row else None


def profile(ident):
    key = "profile:%d" % ident
    began = time.monotonic()
    try:
        found = cache.get(key)
    except Exception:  # HashClient raises ValueError if two greenlets give up on one node at once
        found = None
    took = time.monotonic() - began
    if trace:
        trace.write("get %.3f %s %.1f %s\n" % (began, key, took * 1000, "hit" if found else "miss"))
    if found is None:
        found = load_profile(ident)
        if found:
            try:
                cache.set(key, found, expire=300)
            except Exception:
                pass
    return found


def app(environ, start_response):
    path = environ["PATH_INFO"]
    status, body = "200 OK", None
    if path.startswith("/profiles/"):
        body = profile(int(path[10:]))
    elif path.startswith("/cities/"):
        n = int(path[8:])
        rows = db.execute("select id, name from profile where id between ? and ?", (n * 20, n * 20 + 19)).fetchall()
        body = {"city": n, "members": rows}
    elif path == "/health":
        body = {"ok": True}
    if body is None:
        status, body = "404 Not Found", {"error": "not found"}
    data = json.dumps(body).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(data)))])
    return [data]


listener = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=256)
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
listener.setblocking(False)
server = WSGIServer(listener, app, log=None)
gevent.signal_handler(signal.SIGTERM, lambda: os._exit(0))
server.serve_forever()
