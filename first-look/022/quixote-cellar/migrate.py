"""Release 41 adds a column. As the team agreed, DDL gives up after a short lock_timeout and is tried again.

migrate.py PORT
"""
import os
import sys
import time

import psycopg

TRACE = os.environ.get("MIGRATE_TRACE")
time.sleep(3)
connection = psycopg.connect(host="127.0.0.1", port=int(sys.argv[1]), user="cellar", dbname="postgres",
                             application_name="migrate", autocommit=True)
connection.execute("SET lock_timeout = '150ms'")
while True:
    begin = time.time()
    try:
        connection.execute("ALTER TABLE wines ADD COLUMN IF NOT EXISTS tasting_note text")
        done = True
    except psycopg.errors.LockNotAvailable:
        done = False
    if TRACE:
        with open(TRACE, "a") as f:
            f.write("%.3f %s after %.1f ms\n" % (begin, "done" if done else "lock timeout", (time.time() - begin) * 1000))
    if done:
        break
    time.sleep(0.6)
