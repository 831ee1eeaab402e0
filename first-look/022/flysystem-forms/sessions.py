"""The sessions that visitors left in some weeks (most are of crawlers, which bring no cookie, and are empty).

sessions.py DIRECTORY NUMBER
"""
import os
import random
import sys

directory, number = sys.argv[1], int(sys.argv[2])
os.makedirs(directory, exist_ok=True)
left = random.Random(41)
keep = {"sess_%026x" % left.getrandbits(104) for _ in range(number)}
there = set(os.listdir(directory))
for name in there - keep:
    os.unlink(os.path.join(directory, name))
for name in keep - there:
    os.close(os.open(os.path.join(directory, name), os.O_CREAT | os.O_WRONLY, 0o600))
for name in keep:
    os.stat(os.path.join(directory, name))
