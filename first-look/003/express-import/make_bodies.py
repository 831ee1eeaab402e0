"""7 of 8 imports have 5 rows, one has thousands; one JSON document a line"""
import json, random, sys
random.seed(7)
def doc(n):
    return json.dumps({"rows": [{"sku": "A%06d" % random.randrange(10**6), "title": "blue garden chair number %d" % i, "amount": i % 9} for i in range(n)]})
with open(sys.argv[1], "w") as f:
    for i in range(8):
        f.write(doc(int(sys.argv[2]) if i == 5 else 5) + "\n")
