#!/bin/sh
# prepare.sh CACHE CASE: the shop's SQLite database
set -eu
cache=$1
mkdir -p "$cache"
if [ ! -e "$cache/shop.db" ]; then
    rm -f "$cache/shop.db.new"
    python3 - "$cache/shop.db.new" <<'PY'
import random
import sqlite3
import sys

random.seed(5)
db = sqlite3.connect(sys.argv[1])
db.execute("create table brochure (id integer primary key, topic integer, title text, pages integer, stock integer)")
words = "canal harbour mill bridge valley museum garden castle forest lake market tower".split()
db.executemany("insert into brochure values (?, ?, ?, ?, ?)", [
    (n, n % 200, " ".join(random.choices(words, k=4)), random.randint(4, 60), random.randint(0, 900)) for n in range(20000)])
db.execute("create index brochure_topic on brochure (topic, title)")
db.commit()
PY
    mv "$cache/shop.db.new" "$cache/shop.db"
fi
