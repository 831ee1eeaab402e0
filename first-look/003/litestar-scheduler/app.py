import os
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from litestar import Litestar, get

ROWS = int(os.environ.get("ROWS", "0"))
ranking = {}

async def refresh_ranking():
    scores = {}
    for i in range(ROWS):
        scores[i % 997] = (scores.get(i % 997, 0) * 31 + i) % 65521
    ranking["top"] = sorted(scores.items(), key=lambda kv: -kv[1])[:10]

async def start():
    scheduler = AsyncIOScheduler()
    scheduler.add_job(refresh_ranking, "interval", seconds=float(os.environ.get("EVERY_S", "1")), max_instances=1)
    scheduler.start()

@get("/")
async def home() -> str:
    return "ok"

@get("/top")
async def top() -> dict:
    return {"top": ranking.get("top", [])}

app = Litestar(route_handlers=[home, top], on_startup=[start])
