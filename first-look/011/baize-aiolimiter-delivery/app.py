"""Delivery estimates of a shop: a fee table in memory, travel times from the router service."""
import os
import httpx
from aiolimiter import AsyncLimiter
from baize.asgi import JSONResponse, PlainTextResponse, Router, request_response

ROUTER = "http://127.0.0.1:" + os.environ["ROUTER_PORT"]
# our contract with the router service: so many calls in a period
limiter = AsyncLimiter(float(os.environ.get("ROUTER_CALLS", "20")), float(os.environ.get("ROUTER_PERIOD", "1")))
client = httpx.AsyncClient(limits=httpx.Limits(max_connections=64, max_keepalive_connections=64), timeout=5)
ZONES = [{"zone": z, "fee": 2.5 + z % 9 * 0.5, "weekdays": [d for d in range(7) if (z + d) % 3]} for z in range(400)]

@request_response
async def health(request):
    return PlainTextResponse("ok")

@request_response
async def fee(request):
    return JSONResponse(ZONES[request.path_params["zone"] % 400])

@request_response
async def zones(request):
    start = request.path_params["page"] % 4 * 100
    return JSONResponse(ZONES[start:start + 100])

@request_response
async def estimate(request):
    n = request.path_params["address"]
    async with limiter:
        got = await client.get(f"{ROUTER}/route/{n}")
    return JSONResponse({"address": n, "minutes": got.json()["minutes"], **ZONES[n % 400]})

app = Router(("/health", health), ("/fee/{zone:int}", fee), ("/zones/{page:int}", zones), ("/estimate/{address:int}", estimate))
