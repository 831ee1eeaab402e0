import asyncio, sys
from aiohttp import web

async def spot(request):
    await asyncio.sleep(0.01)
    return web.json_response({"price": 101.5})

async def history(request):
    await asyncio.sleep(0.15)
    return web.json_response({"prices": list(range(200))})

app = web.Application()
app.add_routes([web.get("/spot", spot), web.get("/history", history)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
