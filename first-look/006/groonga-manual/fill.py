# fill.py DB : a groonga database of 40 000 manual pages with a full-text index
import json, random, subprocess, sys
random.seed(7)
w = ["pump", "valve", "filter", "motor", "panel", "sensor", "bearing", "gasket", "coupling", "hose", "clamp", "relay"]
w += ["part%d" % i for i in range(3000)]
p = [1.0 / (i + 3) for i in range(len(w))]
c = ["table_create Pages TABLE_HASH_KEY ShortText", "column_create Pages title COLUMN_SCALAR ShortText",
     "column_create Pages body COLUMN_SCALAR Text", "column_create Pages year COLUMN_SCALAR Int32",
     "column_create Pages product COLUMN_SCALAR ShortText",
     "table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenDelimit",
     "column_create Terms pages_body COLUMN_INDEX|WITH_POSITION Pages body"]
rows = []
for i in range(40000):
    rows.append({"_key": "page-%d" % i, "title": "Page %d" % i, "body": " ".join(random.choices(w, p, k=30)),
                 "year": 1990 + i % 34, "product": "product %d" % (i % 400)})
c.append("load --table Pages\n" + json.dumps(rows))
r = subprocess.run(["groonga", "-n", sys.argv[1]], input="\n".join(c) + "\n", text=True, capture_output=True)
print(r.stdout[-300:], r.stderr[-300:])
