# data.py FILE: terms of the glossary
import random
import sqlite3
import sys

random.seed(11)
words = "the of stone glass paint wood century form figure light early late north south gold line carved".split()
db = sqlite3.connect(sys.argv[1])
db.executescript(
    "CREATE TABLE term (id INTEGER PRIMARY KEY, slug TEXT UNIQUE, title TEXT, body TEXT);"
    "CREATE TABLE related (a_id INTEGER, b_id INTEGER, PRIMARY KEY (a_id, b_id)) WITHOUT ROWID;"
)
for i in range(1, 121):
    body = " ".join(random.choice(words) for _ in range(150))
    db.execute("INSERT INTO term VALUES (?, ?, ?, ?)", (i, "t%d" % i, "Term no. %d" % i, body))
    for j in random.sample(range(1, 121), 4):
        db.execute("INSERT INTO related VALUES (?, ?)", (i, j))
db.commit()
