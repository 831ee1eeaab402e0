"""Fixtures of a league: who plays when, and who has the whistle."""
import os

import asyncpg
from kui.asgi import HTTPException, JSONResponse, Kui, Path
from typing_extensions import Annotated

DSN = dict(host="127.0.0.1", port=int(os.environ["DB_PORT"]), user="league", database="league")
app = Kui()
pool = None


@app.on_startup
async def open_pool(_):
    global pool
    pool = await asyncpg.create_pool(min_size=4, max_size=8, **DSN)


@app.router.http("/standings")
async def standings():
    rows = await pool.fetch("SELECT id, name, points FROM teams ORDER BY points DESC, id LIMIT 20")
    return JSONResponse([dict(row) for row in rows])


@app.router.http("/teams/{team}/fixtures")
async def fixtures(team: Annotated[int, Path()]):
    connection = await asyncpg.connect(**DSN)
    try:
        rows = await connection.fetch(
            "SELECT id, away, kickoff, phase, officials FROM fixtures WHERE home = $1 ORDER BY kickoff LIMIT 20", team)
    finally:
        await connection.close()
    if not rows:
        raise HTTPException(404)
    return JSONResponse([
        {"id": row["id"], "away": row["away"], "kickoff": row["kickoff"].isoformat(), "phase": row["phase"],
         "officials": [official["name"] for official in row["officials"]]} for row in rows])
