"""Warm-start broker: holds the long polls of idle run controllers, and hands each new run to one that fits."""
import asyncio
import json
import os
import sqlite3
from collections import OrderedDict
from itertools import count
from urllib.parse import parse_qsl

from bareasgi import Application, HttpRequest, HttpResponse
from bareutils import text_reader, text_writer

STORE = os.environ.get("WARM_STORE", "sqlite")
FLEET = os.environ.get("WARM_FLEET")
EXPECTED = int(os.environ.get("WARM_EXPECTED", "0"))
FIELDS = ("project.id", "deployment.id", "deployment.version", "machine.preset")


def flatten(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flatten(value, prefix + key + ".")
        else:
            yield prefix + key, str(value)


class SqliteStore:
    """Any metadata can be asked for: it is kept as pairs of key and value, all of them indexed."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.executescript("""
            CREATE TABLE connections (id INTEGER PRIMARY KEY, metadata TEXT NOT NULL);
            CREATE TABLE metadata_index (connection_id INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL);
            CREATE INDEX by_pair ON metadata_index (key, value);
            CREATE INDEX by_connection ON metadata_index (connection_id);
        """)

    def add(self, number, metadata):
        self.db.execute("INSERT INTO connections VALUES (?, ?)", (number, json.dumps(metadata)))
        self.db.executemany(
            "INSERT INTO metadata_index VALUES (?, ?, ?)", [(number, k, v) for k, v in flatten(metadata)])

    def remove(self, number):
        self.db.execute("DELETE FROM metadata_index WHERE connection_id = ?", (number,))
        self.db.execute("DELETE FROM connections WHERE id = ?", (number,))

    def match(self, wanted):
        pairs = [(k, wanted[k]) for k in FIELDS]
        row = self.db.execute(
            "SELECT DISTINCT c.id, c.metadata FROM connections c JOIN metadata_index mi ON c.id = mi.connection_id"
            " WHERE c.id IN (SELECT connection_id FROM metadata_index WHERE "
            + " OR ".join("(key = ? AND value = ?)" for _ in pairs)
            + " GROUP BY connection_id HAVING COUNT(DISTINCT key) = ?) LIMIT 1",
            [x for pair in pairs for x in pair] + [len(pairs)]).fetchone()
        return row and row[0]


class MapStore:
    """Controllers are asked for by the same four fields always: one map with these as its key."""

    def __init__(self):
        self.by_key = {}
        self.keys = {}

    def add(self, number, metadata):
        flat = dict(flatten(metadata))
        key = self.keys[number] = tuple(flat[k] for k in FIELDS)
        self.by_key.setdefault(key, OrderedDict())[number] = True

    def remove(self, number):
        key = self.keys.pop(number)
        waiting = self.by_key[key]
        del waiting[number]
        if not waiting:
            del self.by_key[key]

    def match(self, wanted):
        waiting = self.by_key.get(tuple(wanted[k] for k in FIELDS))
        return next(iter(waiting)) if waiting else None


store = MapStore() if STORE == "map" else SqliteStore()
held = {}
numbers = count(1)
started = 0


def answer(status, document):
    body = json.dumps(document).encode()
    return HttpResponse(
        status, [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
        text_writer(body.decode()))


async def connect(request: HttpRequest) -> HttpResponse:
    """Long poll of an idle controller."""
    metadata = json.loads(await text_reader(request.body))
    number = next(numbers)
    run = held[number] = asyncio.get_running_loop().create_future()
    store.add(number, metadata)
    try:
        return answer(200, await asyncio.wait_for(run, 120))
    except asyncio.TimeoutError:
        store.remove(number)
        return answer(204, {})
    finally:
        held.pop(number, None)


async def warm_start(request: HttpRequest) -> HttpResponse:
    """A run that has been triggered looks for a controller."""
    global started
    wanted = json.loads(await text_reader(request.body))
    number = store.match(wanted)
    if number is None:
        return answer(200, {"warm": False})
    store.remove(number)
    held.pop(number).set_result({"run": wanted["run"], "payload": wanted.get("payload")})
    started += 1
    return answer(200, {"warm": True, "controller": number})


async def runs(request: HttpRequest) -> HttpResponse:
    query = dict(parse_qsl(request.scope["query_string"].decode()))
    return answer(200, {"started": started, "idle": len(held), "since": query.get("since")})


async def ready(request: HttpRequest) -> HttpResponse:
    return answer(200 if len(held) >= EXPECTED else 503, {"idle": len(held)})


async def announce(request) -> None:
    """Tells the fleet where the broker is; its controllers come then."""
    if FLEET:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(FLEET))
        writer.write(("broker %s controllers %d\n" % (os.environ["WARM_PORT"], EXPECTED)).encode())
        await writer.drain()
        writer.close()


app = Application(startup_handlers=[announce])
app.http_router.add({"POST"}, "/connect", connect)
app.http_router.add({"POST"}, "/warm-start", warm_start)
app.http_router.add({"GET"}, "/runs", runs)
app.http_router.add({"GET"}, "/ready", ready)
