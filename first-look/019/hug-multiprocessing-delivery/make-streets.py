"""Makes the street register of the delivery service."""
import gzip
import json
import os
import random
import sys

path = sys.argv[1]
rnd = random.Random(7)
first = ["Acre", "Birch", "Cedar", "Dale", "Elder", "Fern", "Grove", "Hazel", "Ivy", "Juniper", "Kiln", "Larch", "Maple",
         "Nettle", "Oak", "Pine", "Quarry", "Rowan", "Sedge", "Thorn", "Umber", "Vine", "Willow", "Yarrow"]
second = ["gate", "field", "side", "bank", "ford", "wood", "mead", "croft", "hurst", "ley", "moor", "well"]
kind = ["Street", "Road", "Lane", "Close", "Way", "Avenue", "Court", "Row"]
streets = []
for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 14000):
    streets.append({"id": i, "name": f"{rnd.choice(first)}{rnd.choice(second)} {rnd.choice(kind)} {rnd.randrange(1, 400)}",
                    "zone": rnd.randrange(1, 13), "lat": round(50 + rnd.random(), 5), "lon": round(8 + rnd.random(), 5)})
with gzip.open(path + ".new", "wt") as f:
    json.dump(streets, f)
os.replace(path + ".new", path)
