# Guided tours: Emmett (granian, one asyncio loop), its log goes to the company's Loki with python-logging-loki.
import logging
import os
import queue

import logging_loki
from emmett import App
from emmett.tools import service

app = App(__name__)
TOURS = [{"id": n, "town": f"town {n % 40}", "guide": f"guide {n % 17}", "hours": 1 + n % 5, "cents": 900 + 50 * (n % 31)} for n in range(600)]

log = logging.getLogger("tours")
log.setLevel(logging.INFO)
log.propagate = False
loki = {"url": f"http://127.0.0.1:{os.environ['LOKI_PORT']}/loki/api/v1/push", "tags": {"app": "tours"}, "version": "1"}
if os.environ.get("LOG_QUEUE") == "1":
    log.addHandler(logging_loki.LokiQueueHandler(queue.Queue(-1), **loki))
else:
    log.addHandler(logging_loki.LokiHandler(**loki))


@app.route("/health", methods="get")
async def health():
    return "ok"


@app.route("/tour/<int:number>", methods="get")
@service.json
async def tour(number):
    return TOURS[number % len(TOURS)]


@app.route("/town/<int:number>", methods="get")
@service.json
async def town(number):
    name = f"town {number % 40}"
    return {"town": name, "tours": [t for t in TOURS if t["town"] == name]}


@app.route("/book/<int:number>", methods="post")
@service.json
async def book(number):
    found = TOURS[number % len(TOURS)]
    log.info("booked tour %d with %s", found["id"], found["guide"], extra={"tags": {"event": "booking"}})
    return {"tour": found["id"], "booked": True}
