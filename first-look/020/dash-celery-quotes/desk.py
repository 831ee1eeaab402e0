"""Quotation desk: a Dash page whose prices are worked out by Celery."""
import os
import signal
import time

from cheroot import wsgi
from dash import Dash, Input, Output, dcc, html

from pricing import quote

TRACE = open(os.environ["DESK_TRACE"], "a", buffering=1) if os.environ.get("DESK_TRACE") else None

app = Dash(__name__, serve_locally=True, title="Quotation desk")
app.layout = html.Div([
    dcc.Input(id="parcel", value="1:1"),
    html.Span(id="price"),
    dcc.Input(id="town", value="1"),
    html.Span(id="depot"),
])
DEPOTS = ["North", "Harbour", "Airport", "Hill", "Old town", "South"]


@app.callback(Output("price", "children"), Input("parcel", "value"))
def price(parcel):
    zone, kilo = parcel.split("-")
    begin = time.perf_counter()
    answer = quote.delay(int(zone), int(kilo)).get(timeout=10)
    if TRACE:
        TRACE.write("%.3f quote %.1f\n" % (time.time(), (time.perf_counter() - begin) * 1e3))
    return answer + " EUR"


@app.callback(Output("depot", "children"), Input("town", "value"))
def depot(town):
    return DEPOTS[int(town) % len(DEPOTS)]


@app.server.route("/health")
def health():
    return "ok"


if __name__ == "__main__":
    server = wsgi.Server(("127.0.0.1", int(os.environ["PORT"])), app.server, numthreads=12, timeout=75)
    signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
    server.start()
