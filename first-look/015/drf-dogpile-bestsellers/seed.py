import os, random, sqlite3, sys
path = sys.argv[1]
if not os.path.exists(path):
    r = random.Random(5)
    db = sqlite3.connect(path + ".new")
    db.executescript("create table book (id integer primary key, title text, shelf text);"
                     "create table sale (id integer primary key, book integer, shelf text, copies integer, day integer);")
    shelves = ["crime", "travel", "poetry", "cooking", "history", "garden"]
    db.executemany("insert into book values (?,?,?)", ((i, "Title %d" % i, shelves[i % 6]) for i in range(1, 3001)))
    def sales():
        for i in range(1, 210001):
            b = min(3000, int(r.paretovariate(0.6)))
            yield i, b, shelves[b % 6], r.randint(1, 3), r.randint(1, 365)
    db.executemany("insert into sale values (?,?,?,?,?)", sales())
    db.execute("create index sale_shelf on sale (shelf)")
    db.commit()
    db.close()
    os.rename(path + ".new", path)
