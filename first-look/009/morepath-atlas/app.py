# An atlas: places from SQLite, and similar names computed on demand.
import os, random, sqlite3, sys, threading
from concurrent.futures import ThreadPoolExecutor
import morepath, waitress

DB = os.path.join(sys.argv[2], "atlas.db")
local = threading.local()

def db():
    if not hasattr(local, "db"):
        local.db = sqlite3.connect(DB)
    return local.db

def fill():
    rnd = random.Random(7)
    if os.path.exists(DB):
        os.remove(DB)
    con = sqlite3.connect(DB)
    con.execute("create table place (id integer primary key, name text, region integer, people integer)")
    con.execute("create table region (id integer primary key, name text)")
    word = lambda n: "".join(rnd.choice("abcdefghiklmnoprstuvw") for _ in range(n))
    con.executemany("insert into region values (?,?)", [(i, word(9)) for i in range(40)])
    con.executemany("insert into place values (?,?,?,?)", [(i, word(11), i % 40, rnd.randrange(9000)) for i in range(4000)])
    con.execute("create index place_region on place (region, people)")
    con.commit()
    return [r[0] for r in con.execute("select name from place order by id")]

NAMES = fill()
matchers = ThreadPoolExecutor(4, thread_name_prefix="matcher")

def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]

def closest(name, names):
    return sorted((distance(name, n), n) for n in names)[:5]

class App(morepath.App):
    pass

class Place:
    def __init__(self, id):
        self.id = id

class Similar:
    def __init__(self, id):
        self.id = id

@App.path(model=Place, path="/place/{id}", converters={"id": int})
def get_place(id):
    return Place(id)

@App.path(model=Similar, path="/similar/{id}", converters={"id": int})
def get_similar(id):
    return Similar(id)

@App.json(model=Place)
def place(self, request):
    con = db()
    name, region, people = con.execute("select name, region, people from place where id = ?", (self.id,)).fetchone()
    region_name, = con.execute("select name from region where id = ?", (region,)).fetchone()
    rank, = con.execute("select count(*) from place where region = ? and people > ?", (region, people)).fetchone()
    near = con.execute("select id, name from place where region = ? order by people desc limit 10", (region,)).fetchall()
    return {"name": name, "region": region_name, "people": people, "rank": rank + 1, "near": near}

@App.json(model=Similar)
def similar(self, request):
    name, n = NAMES[self.id], int(os.environ.get("CANDIDATES", "4000"))
    parts = list(matchers.map(lambda k: closest(name, NAMES[k:n:4]), range(4)))
    return {"similar": sorted(sum(parts, []))[:5]}

morepath.autoscan()
App.commit()
waitress.serve(App(), host="127.0.0.1", port=int(sys.argv[1]), threads=16, _quiet=True)
