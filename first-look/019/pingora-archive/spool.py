#!/usr/bin/env python3
"""Lays out the spool: 20 documents, most of a few pages, three with scans."""
import json
import os
import random
import sys

spool = sys.argv[1]
rng = random.Random(20)
kinds = ["letter", "decision", "notice", "receipt", "minutes"]
index = []
for doc in range(1, 21):
    scans = doc in (4, 11, 17)
    size = rng.randint(180_000, 320_000) if scans else rng.randint(6_000, 38_000)
    name = "doc-%03d.pdf" % doc
    with open(os.path.join(spool, name), "wb") as out:
        out.write(b"%PDF-1.4\n" + rng.randbytes(size))
    index.append({"id": doc, "file": name, "title": "%s %d" % (kinds[doc % 5], 2000 + doc)})
with open(os.path.join(spool, "index.json"), "w") as out:
    json.dump(index, out)
