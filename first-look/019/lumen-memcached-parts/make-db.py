"""Makes the database of the parts shop."""
import os
import random
import sqlite3
import sys

path = sys.argv[1]
rnd = random.Random(11)
nouns = ["pump", "valve", "gasket", "filter", "bearing", "belt", "sensor", "relay", "hinge", "lamp"]
models = ["Arno", "Brenta", "Cenisio", "Dora", "Elsa", "Fella", "Gesso", "Idice"]
db = sqlite3.connect(path + ".new")
db.executescript("""
drop table if exists parts; drop table if exists fits;
create table parts(id integer primary key, name text, price integer, stock integer, description text);
create table fits(part_id integer, model text, year integer);
create index fits_part on fits(part_id);
""")
for i in range(1, 2001):
    db.execute("insert into parts values(?,?,?,?,?)",
               (i, f"{rnd.choice(nouns)} {i}", rnd.randrange(200, 90000), rnd.randrange(0, 60),
                " ".join(rnd.choice(nouns) for _ in range(60))))
    for _ in range(rnd.randrange(3, 12)):
        db.execute("insert into fits values(?,?,?)", (i, rnd.choice(models), rnd.randrange(1998, 2024)))
db.commit()
db.close()
os.replace(path + ".new", path)
