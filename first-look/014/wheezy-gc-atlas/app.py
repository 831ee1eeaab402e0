"""A place-name atlas: wheezy.web on cheroot, the gazetteer in memory, view counts in memcached.

A housekeeping thread runs the garbage collector, to keep the memory of the process low."""
import gc
import json
import os
import threading
import time
from cheroot.wsgi import Server
from pymemcache.client.base import PooledClient
from wheezy.http import HTTPResponse, WSGIApplication
from wheezy.routing import url
from wheezy.web.handlers import BaseHandler
from wheezy.web.middleware import bootstrap_defaults, path_routing_middleware_factory

counts = PooledClient(("127.0.0.1", int(os.environ["MEMCACHED_PORT"])), max_pool_size=32, no_delay=True)
PLACES = int(os.environ.get("PLACES", "60000"))
EVERY = float(os.environ.get("GC_EVERY", "0.8"))


class Place:
    def __init__(self, i):
        self.name = "Place %d" % i
        self.at = [47 + i % 700 / 100.0, 6 + i % 900 / 100.0]
        self.names = {"de": "Ort %d" % i, "fr": "Lieu %d" % i}
        self.near = []


places = [Place(i) for i in range(PLACES)]
for i, place in enumerate(places):
    place.near = [places[i - 1], places[i - 2], places[i - 7]]     # neighbours point at each other


def housekeeping():
    log = open(os.environ["GC_LOG"], "a", buffering=1) if os.environ.get("GC_LOG") else None   # evidence only
    while True:
        time.sleep(EVERY)
        start = time.monotonic()
        gc.collect()
        if log:
            log.write("%.1f\n" % ((time.monotonic() - start) * 1000))


def answer(value):
    response = HTTPResponse("application/json; charset=UTF-8", "UTF-8")
    response.write(json.dumps(value))
    return response


class PlaceHandler(BaseHandler):
    def get(self):
        i = int(self.route_args["id"]) % PLACES
        place = places[i]
        key = "views.%d" % i
        views = counts.incr(key, 1)
        if views is None:
            counts.set(key, "1")
            views = 1
        return answer({"name": place.name, "at": place.at, "names": place.names, "views": views})


class NearHandler(BaseHandler):
    def get(self):
        place = places[int(self.route_args["id"]) % PLACES]
        return answer([{"name": p.name, "at": p.at} for p in place.near])


class HealthHandler(BaseHandler):
    def get(self):
        return answer("ok")


app = WSGIApplication(
    middleware=[
        bootstrap_defaults(url_mapping=[
            url("place/{id:int}", PlaceHandler, name="place"),
            url("near/{id:int}", NearHandler, name="near"),
            url("health", HealthHandler, name="health"),
        ]),
        path_routing_middleware_factory,
    ],
    options={})

if __name__ == "__main__":
    gc.collect()
    if os.environ.get("GC_FREEZE") == "1":
        gc.freeze()         # what is loaded now stays for ever: the collector need not look at it again
    threading.Thread(target=housekeeping, name="housekeeping", daemon=True).start()
    Server(("127.0.0.1", int(os.environ["PORT"])), app, numthreads=12, request_queue_size=128, timeout=60).safe_start()
