"""Wine cellar's catalogue on Quixote."""
import json
import os
import threading
import time

from psycopg_pool import ConnectionPool
from quixote import get_response
from quixote.directory import Directory
from quixote.errors import TraversalError
from quixote.publish import Publisher
from quixote.wsgi import QWIP
from waitress import serve

pool = ConnectionPool(
    "host=127.0.0.1 port=%s user=cellar dbname=postgres application_name=cellar" % os.environ["DB_PORT"],
    min_size=20, max_size=20, kwargs={"autocommit": True}, open=False,
)
TRACE = os.environ.get("CELLAR_TRACE")

WINE = """SELECT w.id, w.name, w.vintage, w.price::text, w.bottles, r.name FROM wines w
    JOIN regions r ON r.id = w.region_id WHERE w.id = %s"""
REGION = "SELECT id, name, country FROM regions WHERE id = %s"


def row(sql, number):
    begin = time.perf_counter()
    with pool.connection() as connection:
        got = time.perf_counter()
        found = connection.execute(sql, (number,)).fetchone()
    if TRACE:
        with open(TRACE, "a") as f:
            f.write("%.3f pool %.1f query %.1f %s\n" % (
                time.time(), (got - begin) * 1000, (time.perf_counter() - got) * 1000, sql[7:11]))
    if found is None:
        raise TraversalError("no such entry")
    return found


def answer(names, values):
    get_response().set_content_type("application/json", "utf-8")
    return json.dumps(dict(zip(names, values)))


class Wines(Directory):
    _q_exports = []

    def _q_lookup(self, component):
        if not component.isdigit():
            raise TraversalError("no such wine")
        return answer(("id", "name", "vintage", "price", "bottles", "region"), row(WINE, int(component)))


class Regions(Directory):
    _q_exports = []

    def _q_lookup(self, component):
        if not component.isdigit():
            raise TraversalError("no such region")
        return answer(("id", "name", "country"), row(REGION, int(component)))


class Root(Directory):
    _q_exports = ["", "wines", "regions", "health"]

    wines = Wines()
    regions = Regions()

    def _q_index(self):
        return "cellar"

    def health(self):
        row(WINE, 1)
        return "ok"


class ThreadedPublisher(Publisher):
    """as the Quixote manual gives it in 'Multi-Threaded Quixote Applications'"""
    is_thread_safe = True

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self._requests = {}

    def _set_request(self, request):
        self._requests[threading.get_ident()] = request

    def _clear_request(self):
        self._requests.pop(threading.get_ident(), None)

    def get_request(self):
        return self._requests.get(threading.get_ident())


if __name__ == "__main__":
    pool.open(wait=True, timeout=30)
    serve(QWIP(ThreadedPublisher(Root())), host="127.0.0.1", port=int(os.environ["PORT"]), threads=20, ident="cellar")
