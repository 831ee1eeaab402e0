import os
import aiohttp
import asgineer
from aiocache import cached, cached_stampede

TTL = float(os.environ.get("TARIFF_TTL", "1.0"))
URL = "http://127.0.0.1:%s" % os.environ["CARRIER_PORT"]
session = None

async def load_tariffs(zone):
    global session
    if session is None:
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=100))
    async with session.get(f"{URL}/tariffs/{zone}") as r:
        return await r.json()

if os.environ.get("CACHE") == "stampede-safe":
    tariffs = cached_stampede(lease=2, ttl=TTL, key_builder=lambda f, zone: zone)(load_tariffs)
else:
    tariffs = cached(ttl=TTL, key_builder=lambda f, zone: zone)(load_tariffs)

@asgineer.to_asgi
async def app(request):
    parts = request.path.strip("/").split("/")
    if parts[0] == "health":
        return "ok"
    table = await tariffs(parts[1])
    if parts[0] == "tariff":
        return {"zone": parts[1], "price": table["prices"][7]}
    if parts[0] == "table":
        return {"zone": parts[1], "prices": table["prices"], "currency": "EUR"}
    return 404, {}, "no such page"
