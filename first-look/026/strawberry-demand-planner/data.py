"""data.py FILE: accounts, their usage, and 28 days of demand by quarters of an hour"""
import random
import sys

from sqlalchemy import create_engine, insert
from sqlalchemy.orm import Session

from models import Account, Base, DemandRollup, Usage

r = random.Random(2135)
engine = create_engine("sqlite:///" + sys.argv[1])
Base.metadata.create_all(engine)
models = ["large", "large-thinking", "small", "mini"]
with Session(engine) as s:
    s.execute(insert(Account), [
        {"id": i, "email": "user%d@example.org" % i, "plan": r.choice(["plus", "pro", "team"]), "weekly_limit": 1000.0, "weekly_used": r.uniform(0, 900)}
        for i in range(1, 201)])
    s.execute(insert(Usage), [
        {"account_id": r.randrange(1, 201), "model": r.choice(models), "tokens": r.randrange(100, 60000), "at": r.randrange(28 * 86400)}
        for _ in range(20000)])
    rows = {}
    for slot in range(28 * 96):
        for _ in range(6):
            key = (slot, r.randrange(1, 201), r.randrange(1, 40), r.choice(models), r.choice(["low", "medium", "high"]),
                   r.choice(["response", "compact", "warmup"]), r.choice(["ok", "ok", "ok", "error"]))
            rows[key] = {"requests": r.randrange(1, 60), "input_tokens": r.randrange(10**6), "output_tokens": r.randrange(10**5), "cost": r.uniform(0, 20)}
    names = ["slot", "account_id", "api_key_id", "model", "reasoning_effort", "request_kind", "status"]
    s.execute(insert(DemandRollup), [dict(zip(names, k), **v) for k, v in rows.items()])
    s.commit()
