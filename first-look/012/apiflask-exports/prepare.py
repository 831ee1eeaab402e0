import os
import sqlite3
import sys

path = sys.argv[1]
if os.path.exists(path):
    os.remove(path)
con = sqlite3.connect(path)
con.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, price REAL, stock INTEGER, shelf INTEGER)")
con.executemany("INSERT INTO item VALUES (?, ?, ?, ?, ?)",
                ((i, f"article {i} of the autumn range", i * 0.37, i % 41, i % 100) for i in range(1, 5001)))
con.execute("CREATE INDEX by_shelf ON item (shelf)")
con.commit()
