import asyncio, os, sys
from aiohttp import ClientSession, web

UPSTREAM = os.environ["UPSTREAM"]
limit = asyncio.Semaphore(int(os.environ.get("PARALLEL", "4")))

async def quote(request):
    async with limit:                    # be kind to the exchange
        async with request.app["http"].get(f"{UPSTREAM}/{request.match_info['kind']}") as r:
            return web.json_response(await r.json())

async def home(request):
    return web.Response(text="ok")

async def http(app):
    async with ClientSession() as app["http"]:
        yield

app = web.Application()
app.cleanup_ctx.append(http)
app.add_routes([web.get("/", home), web.get("/quote/{kind}", quote)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
