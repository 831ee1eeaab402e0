"""GraphQL API of a gateway that spreads requests over accounts, with a planner of their quotas."""
import asyncio
import logging
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Optional

import strawberry
from sqlalchemy import case, func, select
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from strawberry.asgi import GraphQL

from models import Account, DemandRollup, Usage

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("gateway")
engine = create_async_engine("sqlite+aiosqlite:///" + os.environ["GATEWAY_DB"], pool_size=8)
Session = async_sessionmaker(engine, expire_on_commit=False)
# the planner's interval: 300 s in production
INTERVAL = float(os.environ.get("PLANNER_INTERVAL", "300"))
# "grain": rows as they are stored, binned here; "slots": summed by slot in the database
HISTORY = os.environ.get("PLANNER_HISTORY", "grain")
WARMUP_WEIGHT = 0.25


@dataclass
class DemandBin:
    slot: int
    account_id: Optional[int]
    model: Optional[str]
    request_kind: Optional[str]
    status: Optional[str]
    requests: int
    tokens: int
    units: float


def demand_units(kind, cost, output_tokens):
    return (cost + output_tokens / 1e5) * (WARMUP_WEIGHT if kind == "warmup" else 1.0)


async def aggregate_demand_bins(session):
    if HISTORY == "grain":
        rows = (await session.execute(select(DemandRollup).order_by(DemandRollup.slot))).scalars().all()
        return [
            DemandBin(r.slot, r.account_id, r.model, r.request_kind, r.status, r.requests,
                      r.input_tokens + r.output_tokens, demand_units(r.request_kind, r.cost, r.output_tokens))
            for r in rows
        ]
    d = DemandRollup
    units = (d.cost + d.output_tokens / 1e5) * case((d.request_kind == "warmup", WARMUP_WEIGHT), else_=1.0)
    rows = await session.execute(
        select(d.slot, func.sum(d.requests), func.sum(d.input_tokens + d.output_tokens), func.sum(units))
        .group_by(d.slot).order_by(d.slot))
    return [DemandBin(slot, None, None, None, None, n, tokens, u) for slot, n, tokens, u in rows]


class Planner:
    forecast: list[float] = []

    async def tick(self):
        async with Session() as session:
            bins = await aggregate_demand_bins(session)
        week = [0.0] * (7 * 96)
        for b in bins:
            week[b.slot % len(week)] += b.units / 4
        self.forecast = week

    async def run(self):
        while True:
            begin = time.perf_counter()
            try:
                await self.tick()
            except Exception:
                log.exception("planner")
            log.info("planner tick %.0f ms", (time.perf_counter() - begin) * 1000)
            await asyncio.sleep(INTERVAL)


async def lag_monitor():
    while True:
        begin = time.perf_counter()
        await asyncio.sleep(0.05)
        lag = time.perf_counter() - begin - 0.05
        if lag > 0.1:
            log.warning("event_loop_lag %.0f ms", lag * 1000)


planner = Planner()


@strawberry.type
class UsageEntry:
    model: str
    tokens: int
    at: int


@strawberry.type
class AccountInfo:
    id: int
    email: str
    plan: str
    remaining: float

    @strawberry.field
    async def usage(self, first: int = 20) -> list[UsageEntry]:
        async with Session() as session:
            rows = await session.execute(
                select(Usage.model, Usage.tokens, Usage.at).where(Usage.account_id == self.id).order_by(Usage.at.desc()).limit(first))
            return [UsageEntry(model=m, tokens=t, at=a) for m, t, a in rows]


@strawberry.type
class Query:
    @strawberry.field
    async def account(self, id: int) -> Optional[AccountInfo]:
        async with Session() as session:
            a = await session.get(Account, id)
        return a and AccountInfo(id=a.id, email=a.email, plan=a.plan, remaining=a.weekly_limit - a.weekly_used)

    @strawberry.field
    async def forecast(self, day: int) -> list[float]:
        return [round(u, 2) for u in planner.forecast[day * 96:(day + 1) * 96]]


@asynccontextmanager
async def lifespan(app):
    tasks = [asyncio.create_task(planner.run()), asyncio.create_task(lag_monitor())]
    yield
    for t in tasks:
        t.cancel()


async def health(request):
    return JSONResponse({"ok": bool(planner.forecast)}, 200 if planner.forecast else 503)


app = Starlette(lifespan=lifespan, routes=[
    Route("/health", health), Mount("/graphql", GraphQL(strawberry.Schema(Query), graphql_ide=None))])
