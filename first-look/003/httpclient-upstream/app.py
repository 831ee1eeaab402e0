"""A shop on bottle and waitress which asks the price server over http.client, one kept connection per thread."""
import http.client, json, os, threading
import bottle, waitress

local = threading.local()

def prices(basket):
    if not hasattr(local, "c"):
        local.c = http.client.HTTPConnection("127.0.0.1", int(os.environ["PRICES_PORT"]))
    local.c.request("POST", "/customer", "{}", {"Content-Type": "application/json"})
    local.c.getresponse().read()
    local.c.request("POST", "/total", json.dumps(basket), {"Content-Type": "application/json"})
    r = local.c.getresponse()
    body = r.read()
    return json.loads(body) if body else {}

@bottle.get("/basket/<kind>")
def basket(kind):
    return {"basket": kind, "prices": prices({"items": ["tea", "milk", kind]})}

@bottle.get("/health")
def health():
    return "ok"

waitress.serve(bottle.default_app(), host="127.0.0.1", port=int(os.environ["PORT"]), threads=8)
