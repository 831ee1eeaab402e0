"""The carrier's rate sheet: rates.py FILE"""
import csv, random, sys

random.seed(11)
with open(sys.argv[1], "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["zone", "kilo", "price", "surcharge"])
    for zone in range(1, 301):
        for kilo in range(1, 61):
            out.writerow([zone, kilo, "%.2f" % (4 + zone * 0.03 + kilo * 0.4), "%.2f" % random.uniform(0, 2)])
