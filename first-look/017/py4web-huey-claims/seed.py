import random

from store import db

rnd = random.Random(5)
pipe = db.pipeline()
pipe.set("claims:next", 100000)
for policy in range(1, 301):
    pipe.hset(f"policy:{policy}", mapping={
        "holder": f"Holder {policy}", "kind": rnd.choice(["home", "car", "travel"]),
        "sum": rnd.randint(20, 900) * 1000, "since": rnd.randint(1998, 2025)})
    for _ in range(rnd.randint(5, 20)):
        number = rnd.randint(1, 99999)
        pipe.hset(f"claim:{number}", mapping={
            "amount": rnd.randint(40, 4000), "what": rnd.choice(["water", "glass", "theft"])})
        pipe.lpush(f"policy:{policy}:claims", number)
pipe.execute()
