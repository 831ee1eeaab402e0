import os, sqlite3, sys
path = sys.argv[1]
if not os.path.exists(path):
    db = sqlite3.connect(path + ".new")
    db.execute("create table profile (id integer primary key, name text, city text, bio text)")
    db.executemany("insert into profile values (?,?,?,?)",
                   ((i, "Member %d" % i, "City %d" % (i % 91), "likes hiking and maps " * 12) for i in range(1, 5001)))
    db.commit()
    db.close()
    os.rename(path + ".new", path)
