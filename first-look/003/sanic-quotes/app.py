import os, socket, sys
import aiohttp
from aiohttp.resolver import AsyncResolver
from sanic import Sanic
from sanic.response import text

app = Sanic("quotes")
URL = "http://quotes.shop.test:%s/quote" % os.environ["QUOTES_PORT"]

@app.before_server_start
async def start(app, _):
    resolver = AsyncResolver(nameservers=["127.0.0.1"], udp_port=int(os.environ["DNS_PORT"]),
                             tcp_port=int(os.environ["DNS_PORT"]), timeout=0.4, tries=1)
    connector = aiohttp.TCPConnector(resolver=resolver, use_dns_cache=False, force_close=True)
    app.ctx.http = aiohttp.ClientSession(connector=connector)

@app.get("/")
async def home(request):
    return text("ok")

@app.get("/quote")
async def quote(request):
    async with app.ctx.http.get(URL) as r:
        return text(await r.text())

if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(sys.argv[1]), single_process=True, access_log=False, motd=False)
