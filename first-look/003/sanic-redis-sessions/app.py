import os

import redis.asyncio as redis
from sanic import Sanic
from sanic.response import json, text

app = Sanic("sessions")
db = redis.Redis(host="127.0.0.1", port=int(os.environ["REDIS_PORT"]), max_connections=64)


@app.get("/health")
async def health(request):
    await db.ping()
    return text("ok")


@app.get("/session/<sid:int>")
async def session(request, sid):
    value = await db.get(f"key:{sid}")
    return json({"session": sid, "size": len(value or b"")})


@app.get("/online/<team>")
async def online(request, team):
    names = await db.keys(f"{team}:*")
    return json({"team": team, "online": len(names)})


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ["PORT"]), single_process=True, access_log=False, motd=False)
