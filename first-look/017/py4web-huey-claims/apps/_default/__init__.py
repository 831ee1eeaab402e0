"""Claims desk of an insurer."""
import os
import time
import zlib

from py4web import HTTP, action, request

from claim_tasks import second_check
from store import db, recent_claims

SAMPLE = int(os.environ.get("CHECK_SAMPLE", "16"))
TIMING = os.environ.get("TIMING_LOG")
TARIFFS = [{"kind": kind, "band": band, "premium": 40 + 7 * band}
           for kind in ("home", "car", "travel") for band in range(1, 13)]


@action("health")
def health():
    return {"status": "up"}


@action("tariffs")
def tariffs():
    return {"tariffs": TARIFFS}


@action("policies/<policy:int>")
def show(policy):
    data = db.hgetall(f"policy:{policy}")
    if not data:
        raise HTTP(404)
    return {"policy": data, "claims": recent_claims(policy, 5)}


@action("policies/<policy:int>/claims", method="POST")
def claim(policy):
    form = request.json
    number = db.incr("claims:next")
    pipe = db.pipeline()
    pipe.hset(f"claim:{number}", mapping={"amount": form["amount"], "what": form["what"]})
    pipe.lpush(f"policy:{policy}:claims", number)
    pipe.ltrim(f"policy:{policy}:claims", 0, 99)
    pipe.execute()
    answer = {"claim": number, "state": "accepted"}
    # a share of all claims is checked a second time before we answer
    if zlib.crc32(b"claim %d" % number) % 100 < SAMPLE:
        t0 = time.perf_counter()
        check = second_check(policy, number, form["amount"])
        result = check.get(blocking=True, timeout=5)
        if TIMING:
            with open(TIMING, "a") as log:
                log.write(f"get waited={1e3 * (time.perf_counter() - t0):.2f}\n")
        answer["state"] = "accepted" if result["ok"] else "manual"
    return answer
