import os
import aiomysql
from muffin import Application

app = Application()
pool = None

@app.on_startup
async def start():
    global pool
    size = int(os.environ.get("DB_POOL", "5"))
    pool = await aiomysql.create_pool(host="127.0.0.1", port=int(os.environ["DB_PORT"]), user="root", password="",
                                      db="shop", minsize=size, maxsize=size, autocommit=True)

async def rows(sql, *args):
    async with pool.acquire() as con:
        async with con.cursor(aiomysql.DictCursor) as cur:
            await cur.execute(sql, args)
            return await cur.fetchall()

@app.route("/health")
async def health(request):
    return "ok"

@app.route("/order/{id:int}")
async def order(request):
    n = request.path_params["id"]
    got = await rows("SELECT id, customer, total FROM orders WHERE id = %s", n % 5000 + 1)
    return {"order": [[r["id"], r["customer"], float(r["total"])] for r in got]}

@app.route("/customer/{id:int}")
async def customer(request):
    n = request.path_params["id"] % 50
    got = await rows("SELECT id, total FROM orders WHERE customer = %s ORDER BY id DESC LIMIT 100", n)
    return {"customer": n, "orders": [[r["id"], float(r["total"])] for r in got]}

@app.route("/settlement")
async def settlement(request):
    # asks the ledger server through its stored procedure
    got = await rows("CALL settle(%s)", float(os.environ.get("LEDGER_S", "0.25")))
    return {"sum": float(got[0]["s"])}
