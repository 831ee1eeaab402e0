# fill.py DIR : the JSON exports that nginx serves
import json, os, random, sys
random.seed(3); os.makedirs(sys.argv[1] + "/www", exist_ok=True); os.chmod(sys.argv[1] + "/www", 0o755)
for i in range(20):
    with open("%s/www/stock-%d.json" % (sys.argv[1], i), "w") as f:
        json.dump([{"sku": random.randrange(10**6), "name": "item %d" % random.randrange(9999), "left": random.randrange(400)} for _ in range(2500)], f)
with open(sys.argv[1] + "/www/all.json", "w") as f:
    json.dump([{"sku": random.randrange(10**6), "name": "item %d" % random.randrange(9999), "left": random.randrange(400)} for _ in range(7000)], f)
with open(sys.argv[1] + "/www/version.json", "w") as f: f.write('{"version": 12}')
