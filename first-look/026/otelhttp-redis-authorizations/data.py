"""data.py: cards and their payments as Redis commands on stdout"""
import random

r = random.Random(480)
for i in range(2000):
    print("HSET card:%d id %d country %s device %d limit %d" % (i, i, r.choice(["DE", "FR", "US", "NL", "SE"]), r.randrange(100), r.randrange(200, 9000)))
    print("RPUSH payments:%d %s" % (i, " ".join("%.2f" % r.uniform(2, 300) for _ in range(80))))
