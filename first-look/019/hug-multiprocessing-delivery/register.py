"""The street register and the estimates: runs in the child process of the estimator pool."""
import gzip
import json
import math
import os
import time

streets = {}
by_prefix = {}
DEPOT = (50.43, 8.61)


def note(text):
    if os.environ.get("TIMING_LOG"):
        with open(os.environ["TIMING_LOG"], "a") as f:
            f.write("%.3f %d %s\n" % (time.time(), os.getpid(), text))


def load(path):
    t = time.perf_counter()
    with gzip.open(path, "rt") as f:
        for s in json.load(f):
            streets[s["id"]] = s
            name = s["name"].lower()
            for n in range(3, min(len(name), 8)):
                by_prefix.setdefault(name[:n], []).append(s["id"])
    note("register loaded in %.1f ms" % (1e3 * (time.perf_counter() - t)))


def estimate(prefix, weight):
    """The price and the minutes for the nearest street of that name."""
    best = None
    for i in by_prefix.get(prefix.lower()[:7], [])[:60]:
        s = streets[i]
        d = math.hypot((s["lat"] - DEPOT[0]) * 111.2, (s["lon"] - DEPOT[1]) * 71.7)
        if best is None or d < best[0]:
            best = (d, s)
    note("task")
    if best is None:
        return None
    km, street = best
    return {"street": street["name"], "zone": street["zone"], "km": round(km, 2),
            "price": round(2.9 + 0.31 * km + 0.4 * weight, 2), "minutes": round(20 + 2.4 * km)}
