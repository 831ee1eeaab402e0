"""data.py: the shop's data as Redis commands on stdout"""
import json
import random

r = random.Random(7503)
words = "paper ink brush canvas course video guide preset font sound loop sample texture pattern print poster zine comic recipe plan".split()


def out(*args):
    print(" ".join("'%s'" % str(a).replace("'", "") for a in args))


for i in range(1000):
    out("HSET", "product:%d" % i, "id", i, "name", " ".join(r.sample(words, 3)), "price", r.randrange(300, 9900),
        "description", " ".join(r.choice(words) for _ in range(120)))
    for _ in range(20):
        out("RPUSH", "reviews:%d" % i, json.dumps({"stars": r.randrange(1, 6), "text": " ".join(r.choice(words) for _ in range(15))}))
    for k in range(8):
        out("ZADD", "related:%d" % i, r.randrange(100), r.randrange(1000))
