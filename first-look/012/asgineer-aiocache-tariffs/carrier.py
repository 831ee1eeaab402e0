# the carrier's tariff service: two calculations at a time, a tenth of a second each
import asyncio
import sys
from aiohttp import web

slots = asyncio.Semaphore(2)

calculated = 0

async def count(request):
    return web.json_response({"calculated": calculated})

async def tariffs(request):
    global calculated
    zone = request.match_info["zone"]
    async with slots:
        await asyncio.sleep(0.1)
    calculated += 1
    base = sum(zone.encode()) % 17
    return web.json_response({"zone": zone, "prices": [round(base + kg * 0.85, 2) for kg in range(300)]})

app = web.Application()
app.router.add_get("/tariffs/{zone}", tariffs)
app.router.add_get("/count", count)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
