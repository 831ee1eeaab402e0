"""Core banking system and exchange rates, in a small way."""
import hashlib
import sys

from aiohttp import web

routes = web.RouteTableDef()


@routes.get("/balance")
async def balance(request):
    account = request.query["account"]
    digest = hashlib.sha256(account.encode()).digest()
    entries = [{"day": d + 1, "cents": int.from_bytes(digest[d:d + 2], "big") - 20000} for d in range(28)]
    return web.json_response({"account": account, "customer": request.query["customer"],
                              "cents": sum(e["cents"] for e in entries), "entries": entries})


@routes.get("/rate")
async def rate(request):
    currency = request.query["currency"]
    seed = int.from_bytes(hashlib.md5(currency.encode()).digest()[:3], "big")
    return web.json_response({"currency": currency, "rate": round(0.2 + seed / 2 ** 23, 4)})


app = web.Application()
app.add_routes(routes)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
