#!/bin/sh
# prepare.sh: the table of links, in the cache folder
set -e
rm -f links.db
python3 - <<'P'
import sqlite3
db = sqlite3.connect("links.db")
db.execute("CREATE TABLE links (key TEXT PRIMARY KEY, page TEXT)")
db.executemany("INSERT INTO links VALUES (?, ?)", [(f"n{i}", f"p{i % 5}") for i in range(5000)])
db.executemany("INSERT INTO links VALUES (?, ?)", [(f"old{i}", f"p{i % 5}") for i in range(2000)])
db.commit()
P
