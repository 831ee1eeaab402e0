"""make_db.py FILE: 12 pools with 6000 candidates."""
import random
import sqlite3
import sys

r = random.Random(9021)
db = sqlite3.connect(sys.argv[1])
db.executescript("""
CREATE TABLE pools (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE candidates (id INTEGER PRIMARY KEY, pool INTEGER NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
  priority INTEGER NOT NULL, skills TEXT NOT NULL);
CREATE INDEX candidates_pool ON candidates (pool, status, priority, id);
""")
db.executemany("INSERT INTO pools VALUES (?, ?)", [(i, "IT-0%d process %d" % (1 + i % 4, i)) for i in range(1, 13)])
db.executemany("INSERT INTO candidates VALUES (?, ?, ?, ?, ?, ?)", [
    (i, 1 + r.randrange(12), "Candidate %d" % i, r.choice(("NEW", "SCREENED", "QUALIFIED")), r.randrange(4),
     ",".join(r.sample(("python", "go", "sql", "java", "security", "networks", "cloud"), 3))) for i in range(1, 6001)])
db.commit()
db.close()
