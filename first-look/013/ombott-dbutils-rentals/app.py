# Tool rental: ombott on the threads of Rocket, MariaDB through PyMySQL and a DBUtils PooledDB.
import json
import os
import sys
import urllib.request

import pymysql
from dbutils.pooled_db import PooledDB
from ombott import Ombott
from rocket3 import Rocket3

app = Ombott()
pool = PooledDB(
    pymysql, mincached=int(os.environ.get("DB_POOL", "20")), maxcached=int(os.environ.get("DB_POOL", "20")), maxconnections=int(os.environ.get("DB_POOL", "20")),
    blocking=True, ping=0, host="127.0.0.1", port=int(os.environ["DB_PORT"]), user="root", database="rental", autocommit=True)


def rows(conn, sql, *args):
    with conn.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute(sql, args)
        return cursor.fetchall()


def answer(body):
    app.response.content_type = "application/json"
    return json.dumps(body)


def deposit(customer):
    """Asks the card company for the deposit."""
    with urllib.request.urlopen(f"http://127.0.0.1:{os.environ['CARD_PORT']}/hold/{customer}", timeout=5) as reply:
        return reply.read().decode()


@app.route("/health")
def health():
    return "ok"


@app.route("/tool/<number:int>")
def tool(number):
    with pool.connection() as conn:
        return answer(rows(conn, "SELECT id, name, cents, free FROM tool WHERE id = %s", number % 2000 + 1)[0])


@app.route("/shelf/<number:int>")
def shelf(number):
    with pool.connection() as conn:
        return answer(rows(conn, "SELECT id, name, cents FROM tool WHERE shelf = %s", number % 100))


@app.route("/rent/<number:int>", method="POST")
def rent(number):
    with pool.connection() as conn:
        found = rows(conn, "SELECT id, cents FROM tool WHERE id = %s", number % 2000 + 1)[0]
        hold = deposit(number)
        rows(conn, "INSERT INTO rental (tool, hold) VALUES (%s, %s)", found["id"], hold)
    return answer({"tool": found["id"], "hold": hold})


if __name__ == "__main__":
    Rocket3(("127.0.0.1", int(sys.argv[1])), "wsgi", {"wsgi_app": app}, min_threads=40, max_threads=40, queue_size=40).start()
