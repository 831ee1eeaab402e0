"""A libSQL server (Hrana 1 over WebSocket, and the HTTP pipeline) on SQLite, in another region:
db.py PORT FILE RTT_MS. Each reply is on the way for RTT_MS, as the distance has it; the work itself takes
well under a millisecond. Replies of one connection keep their order and do not wait for one another."""
import asyncio
import json
import random
import sqlite3
import sys

from aiohttp import WSMsgType, web

PORT, FILE, RTT = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1000
db = sqlite3.connect(FILE, isolation_level=None)


def fill():
    rnd = random.Random(7)
    db.executescript(
        "CREATE TABLE grp(id INTEGER PRIMARY KEY, title TEXT);"
        "CREATE TABLE part(id INTEGER PRIMARY KEY, number TEXT, title TEXT, price REAL, grp INTEGER);"
        "CREATE TABLE stock(part INTEGER, depot TEXT, quantity INTEGER, PRIMARY KEY(part, depot)) WITHOUT ROWID;"
    )
    db.execute("BEGIN")
    db.executemany("INSERT INTO grp VALUES(?,?)", [(g, f"group {g}") for g in range(40)])
    for p in range(1, 5001):
        db.execute("INSERT INTO part VALUES(?,?,?,?,?)", (p, f"N{p:06d}", f"part {p}", rnd.randint(100, 9000) / 100, p % 40))
        db.executemany("INSERT INTO stock VALUES(?,?,?)", [(p, d, rnd.randint(0, 40)) for d in ("east", "north", "south", "west")])
    db.execute("COMMIT")


def out(v):
    if v is None:
        return {"type": "null"}
    if isinstance(v, int):
        return {"type": "integer", "value": str(v)}
    if isinstance(v, float):
        return {"type": "float", "value": v}
    return {"type": "text", "value": v}


def arg(v):
    return {"null": lambda: None, "integer": lambda: int(v["value"]), "float": lambda: v["value"], "text": lambda: v["value"]}[v["type"]]()


def execute(stmt):
    cur = db.execute(stmt["sql"], [arg(a) for a in stmt.get("args") or []])
    cols = [{"name": d[0]} for d in cur.description or []]
    return {"cols": cols, "rows": [[out(v) for v in r] for r in cur.fetchall()], "affected_row_count": max(cur.rowcount, 0), "last_insert_rowid": None}


async def pipeline(request):
    msg = json.loads(await request.text())
    results = []
    for r in msg["requests"]:
        if r["type"] == "execute":
            results.append({"type": "ok", "response": {"type": "execute", "result": execute(r["stmt"])}})
        else:
            results.append({"type": "ok", "response": {"type": "close"}})
    await asyncio.sleep(RTT)
    return web.json_response({"baton": None, "base_url": None, "results": results})


async def hrana(request):
    if request.headers.get("upgrade", "").lower() != "websocket":
        return web.Response(text="libsql")
    await asyncio.sleep(RTT)
    ws = web.WebSocketResponse(protocols=("hrana1",))
    await ws.prepare(request)
    tasks = set()

    async def later(reply):
        await asyncio.sleep(RTT)
        if not ws.closed:
            await ws.send_str(json.dumps(reply))

    async for m in ws:
        if m.type != WSMsgType.TEXT:
            break
        msg = json.loads(m.data)
        if msg["type"] == "hello":
            reply = {"type": "hello_ok"}
        else:
            r = msg["request"]
            body = {"type": r["type"]}
            if r["type"] == "execute":
                body["result"] = execute(r["stmt"])
            reply = {"type": "response_ok", "request_id": msg["request_id"], "response": body}
        t = asyncio.ensure_future(later(reply))
        tasks.add(t)
        t.add_done_callback(tasks.discard)
    return ws


fill()
app = web.Application()
app.add_routes([web.post("/v2/pipeline", pipeline), web.get("/", hrana)])
web.run_app(app, host="127.0.0.1", port=PORT, print=None, access_log=None)
