"""API gateway of a savings bank: checks the session of each request, then asks the service behind it.

SESSION_CLIENT=blocking  redis.Redis in the filters, as they were ported from the threaded gateway
SESSION_CLIENT=asyncio   redis.asyncio.Redis
"""
import json
import os
import sys

import aiohttp
import redis
import redis.asyncio
from tremolo import Application

BACKEND = "http://127.0.0.1:%s" % os.environ["BACKEND_PORT"]
SESSIONS = dict(host="127.0.0.1", port=int(os.environ["SESSIONS_PORT"]), protocol=2,
                decode_responses=True, max_connections=64)
MODE = os.environ.get("SESSION_CLIENT", "blocking")

app = Application()
shared = {}


@app.on_worker_start
async def start(**_):
    shared["http"] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=64))
    if MODE == "blocking":
        shared["sessions"] = redis.Redis(**SESSIONS)
    else:
        shared["sessions"] = redis.asyncio.Redis(**SESSIONS)


@app.on_worker_stop
async def stop(**_):
    await shared["http"].close()


async def session_filter(token):
    """The customer of a token, and one more in the counter of its calls."""
    sessions = shared["sessions"]
    if MODE == "blocking":
        customer = sessions.get("session:" + token)
        if customer is not None:
            sessions.incr("calls:" + customer)
    else:
        customer = await sessions.get("session:" + token)
        if customer is not None:
            await sessions.incr("calls:" + customer)
    return customer


async def backend(path):
    async with shared["http"].get(BACKEND + path) as answer:
        return answer.status, await answer.read()


def reply(response, status, body):
    response.set_status(status, b"OK" if status == 200 else b"Error")
    response.set_content_type(b"application/json")
    return body


@app.route(r"^/accounts/(?P<account>\d+)/balance$")
async def balance(request, response, **_):
    token = request.headers.get(b"x-session", [b""])[0].decode()
    customer = await session_filter(token)
    if customer is None:
        return reply(response, 401, b'{"error": "no session"}')
    account = request.params["path"]["account"].decode()
    status, body = await backend("/balance?account=%s&customer=%s" % (account, customer))
    return reply(response, status, body)


@app.route(r"^/rates/(?P<currency>[A-Z]{3})$")
async def rates(request, response, **_):
    status, body = await backend("/rate?currency=" + request.params["path"]["currency"].decode())
    return reply(response, status, body)


@app.route("/health")
async def health(response, **_):
    return reply(response, 200, json.dumps({"sessions": MODE}).encode())


if __name__ == "__main__":
    app.run("127.0.0.1", int(sys.argv[1]), worker_num=1, log_level="WARNING", keepalive_timeout=75)
