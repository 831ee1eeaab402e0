"""press.py FILE: the fronts as they were pressed last, which are served where the content API has no answer."""
import json
import random
import sys

SECTIONS = ["sport", "world", "politics", "culture", "books", "film", "music", "science", "travel", "money", "food", "law"]
fronts = {}
for section in SECTIONS:
    r = random.Random("pressed " + section)
    fronts[section] = [
        {"id": "%s/%d" % (section, i), "headline": "%s, item %d of yesterday" % (section.title(), i),
         "published": 1699900000 + r.randrange(86400), "words": r.randrange(200, 1500)} for i in range(60)]
with open(sys.argv[1], "w") as f:
    json.dump(fronts, f)
