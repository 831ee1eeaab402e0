#!/bin/sh
# prepare.sh CACHE CASE: compile the server, make the recipes' database
set -e
cache=$1; case=$2
mkdir -p "$cache/src"
cp -r "$case/server/." "$cache/src/"
(cd "$cache/src" && CARGO_TARGET_DIR="$cache/target" cargo build --release --locked)
python3 - "$cache/recipes.db" <<'P'
import os, random, sqlite3, sys
p = sys.argv[1]
if os.path.exists(p):
    os.unlink(p)
random.seed(5)
db = sqlite3.connect(p)
db.execute("create table recipes (id integer primary key, title text)")
db.execute("create table ingredients (recipe integer, place integer, amount text, name text)")
names = "flour butter sugar egg milk salt leek carrot onion rice lentil bean cumin thyme apple plum".split()
dishes = "soup pie stew cake salad gratin".split()
for i in range(1, 601):
    mine = random.sample(names, 7)
    db.execute("insert into recipes values (?, ?)", (i, "%s and %s %s" % (mine[0], mine[1], random.choice(dishes))))
    for k, n in enumerate(mine):
        db.execute("insert into ingredients values (?, ?, ?, ?)", (i, k, "%d g" % random.randint(5, 500), n))
db.execute("create index ingredients_recipe on ingredients (recipe, place)")
db.execute("create index ingredients_name on ingredients (name, recipe)")
db.commit()
P
