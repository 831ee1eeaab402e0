"""The policies and claims in Redis."""
import os

import redis

db = redis.Redis(host="127.0.0.1", port=int(os.environ["REDIS_PORT"]),
                 decode_responses=True)


def recent_claims(policy, count):
    pipe = db.pipeline()
    for number in db.lrange(f"policy:{policy}:claims", 0, count - 1):
        pipe.hgetall(f"claim:{number}")
    return pipe.execute()
