#!/bin/sh
# prepare.sh CACHE CASE: compile the server, make the products' database
set -e
cache=$1; case=$2
mkdir -p "$cache"
cc -O2 -g -Wall -o "$cache/labels.new" "$case/labels.c" -lwebsockets -lsqlite3 -lpthread
mv "$cache/labels.new" "$cache/labels"
python3 - "$cache/products.db" <<'P'
import os, sqlite3, sys
p = sys.argv[1]
if os.path.exists(p):
    os.unlink(p)
db = sqlite3.connect(p)
db.execute("create table products (sku text primary key, cents integer)")
db.execute("create table label_lines (sku text, y integer, size integer, text text)")
db.execute("create index label_lines_sku on label_lines (sku)")
things = "oat milk,rye bread,salted butter,plum jam,green tea,lentils,olive oil,sea salt".split(",")
for i in range(40):
    sku = "%05d" % (20100 + 7 * i)
    db.execute("insert into products values (?, ?)", (sku, 99 + 37 * i))
    for k, text in enumerate((things[i % 8], "article " + sku, "shelf %d, place %d" % (i // 8, i % 8))):
        db.execute("insert into label_lines values (?, ?, ?, ?)", (sku, 24 + 18 * k, 18 - 4 * k, text))
db.commit()
P
