"""Document numbers for branches: Starlette on Daphne. Each series of numbers is a JSON file on a
share used by several programs too, so they are guarded by the lock file of the `filelock` library."""
import json
import os
import sys
import time
from pathlib import Path

from filelock import FileLock
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

sys.setswitchinterval(0.0005)  # the event loop shall not wait 5 ms for a worker thread
DATA = Path(os.environ["DATA_DIR"])
DATA.mkdir(exist_ok=True)
POLL = float(os.environ["LOCK_POLL_SECONDS"])
TRACE = os.environ.get("TRACE_FILE")
trace = open(TRACE, "a", buffering=1) if TRACE else None


def take(series, customer):
    file = DATA / (series + ".json")
    began = time.monotonic()
    with FileLock(str(DATA / "numbers.lock"), poll_interval=POLL, timeout=10):
        got = time.monotonic()
        try:
            state = json.loads(file.read_text())
        except FileNotFoundError:
            state = {"next": ROWS + 1, "recent": [{"number": i + 1, "customer": "walk-in", "note": "x" * 40} for i in range(ROWS)]}
        number = state["next"]
        state["next"] += 1
        state["recent"] = (state["recent"] + [{"number": number, "customer": customer, "note": "x" * 40}])[-ROWS:]
        new = file.with_suffix(".new")
        new.write_text(json.dumps(state))
        new.replace(file)
    if trace:
        trace.write("lock %.4f %s wait %.1f held %.1f\n" % (began, series, (got - began) * 1000, (time.monotonic() - got) * 1000))
    return number


ROWS = int(os.environ.get("RECENT_ROWS", "400"))


def number(request):
    series = request.path_params["series"]
    return JSONResponse({"series": series, "number": take(series, request.headers.get("x-customer", "walk-in"))})


async def series(request):
    return JSONResponse({"series": request.path_params["series"], "prefix": "2026-", "digits": 7})


async def health(request):
    return JSONResponse({"ok": True})


app = Starlette(routes=[
    Route("/numbers/{series}", number, methods=["POST"]),
    Route("/series/{series}", series),
    Route("/health", health),
])
