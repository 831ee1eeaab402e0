import json, os
from lilya.apps import Lilya
from lilya.concurrency import run_in_threadpool
from lilya.responses import JSONResponse, PlainText
from lilya.routing import Path

ROWS = int(os.environ.get("ROWS", "60000"))
CUSTOMERS = [{"id": i, "name": f"customer {i}", "city": f"city {i % 97}", "balance": i * 1.25} for i in range(ROWS)]

async def health():
    return PlainText("ok")

async def customer(id: int):
    return JSONResponse(CUSTOMERS[int(id) % ROWS])

def dump():
    text = json.dumps(CUSTOMERS)
    return f"{len(text)} bytes written"

async def backup():
    # off the event loop: it takes a while
    return PlainText(await run_in_threadpool(dump))

app = Lilya(routes=[
    Path("/health", health),
    Path("/customer/{id}", customer),
    Path("/backup", backup, methods=["POST"]),
])
