#!/usr/bin/env python3
"""Building plans and their thumbnails, in the cache folder."""
import os, random
r = random.Random(9)
os.makedirs("files", exist_ok=True)
for i in range(40):
    open(f"files/plan{i}.txt", "wb").write(r.randbytes(9000))
    open(f"files/thumb{i}.txt", "wb").write(r.randbytes(1500))
