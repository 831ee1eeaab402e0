"""Tasks that run in the Huey consumer."""
import os
import statistics
import time

from huey import RedisHuey

from store import recent_claims

huey = RedisHuey("claims", host="127.0.0.1", port=int(os.environ["REDIS_PORT"]),
                 notify_result=os.environ.get("HUEY_NOTIFY", "0") == "1")
TIMING = os.environ.get("TIMING_LOG")


@huey.task()
def second_check(policy, number, amount):
    """Compares a claim with the earlier ones of the policy."""
    t0 = time.perf_counter()
    earlier = [float(c["amount"]) for c in recent_claims(policy, 40) if c]
    mean = statistics.fmean(earlier) if earlier else amount
    spread = statistics.pstdev(earlier) if len(earlier) > 1 else mean
    score = abs(amount - mean) / (spread or 1)
    if TIMING:
        with open(TIMING, "a") as log:
            log.write(f"task run={1e3 * (time.perf_counter() - t0):.2f}\n")
    return {"claim": number, "score": round(score, 3), "ok": score < 3}
