"""data.py: maps and their leaderboards as Redis commands on stdout"""
import random

r = random.Random(2986)
words = "night river signal glass winter engine orbit garden shadow parade neon harbour".split()
print("SET maps 500")
for i in range(500):
    print("HSET map:%d id %d title '%s' bpm %d stars %.2f" % (i, i, " ".join(r.sample(words, 3)), r.randrange(90, 240), r.uniform(1, 8)))
    print("ZADD board:%d %s" % (i, " ".join("%d player%d" % (r.randrange(100000, 1000000), r.randrange(5000)) for _ in range(120))))
