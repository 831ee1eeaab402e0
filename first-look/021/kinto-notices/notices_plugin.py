"""Kinto plugin of the city's notice board: its records, and no log lines for the balancer's probes."""
import logging
import os
import random
import time

from pyramid.events import ApplicationCreated

DISTRICTS = ["north", "south", "east", "west", "harbour", "old-town", "hill", "river"]


class NoProbes(logging.Filter):
    def filter(self, record):
        return not getattr(record, "path", "").endswith("__lbheartbeat__")


def seed(event):
    storage, permission = event.app.registry.storage, event.app.registry.permission
    board = "/buckets/city/collections/notices"
    storage.create(parent_id="", resource_name="bucket", obj={"id": "city"})
    storage.create(parent_id="/buckets/city", resource_name="collection", obj={"id": "notices"})
    permission.add_principal_to_ace("/buckets/city", "read", "system.Everyone")
    rnd = random.Random(3)
    words = "road closed bridge works water meter school market permit council meeting parade tram stop".split()
    for i in range(80):
        storage.create(parent_id=board, resource_name="record", obj={
            "id": f"notice-{i}", "district": DISTRICTS[i % 8], "title": " ".join(rnd.choices(words, k=5)),
            "text": " ".join(rnd.choices(words, k=34)), "until": f"2027-0{1 + i % 9}-15"})


def timed_stderr():
    """Only for measuring: how long each log line took to be written."""
    path = os.environ.get("TIMING_LOG")
    if not path:
        return
    emit = logging.StreamHandler.handle

    def handle(self, record):
        t = time.perf_counter()
        out = emit(self, record)
        with open(path, "a") as f:
            f.write(f"{time.time():.3f} {(time.perf_counter() - t) * 1e3:.2f}\n")
        return out

    logging.StreamHandler.handle = handle


def includeme(config):
    logging.getLogger("request.summary").addFilter(NoProbes())
    config.add_subscriber(seed, ApplicationCreated)
    timed_stderr()
