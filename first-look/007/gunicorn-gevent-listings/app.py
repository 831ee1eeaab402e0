import json
import os
from urllib.parse import parse_qs

import MySQLdb

FEATURED = [{"id": i, "town": "town%d" % i, "price": 100000 + 977 * i} for i in range(30)]


def connect():
    return MySQLdb.connect(host="127.0.0.1", port=int(os.environ["DB_PORT"]), user="web", passwd="web", db="estate")


def featured(query):
    return FEATURED


def search(query):
    db = connect()
    try:
        cur = db.cursor()
        cur.execute(
            "select id, town, price from listing where description like %s order by price limit 20",
            ("%" + query.get("q", ["sauna"])[0] + "%",),
        )
        return [{"id": r[0], "town": r[1], "price": r[2]} for r in cur.fetchall()]
    finally:
        db.close()


ROUTES = {"/featured": featured, "/search": search}


def app(environ, start_response):
    view = ROUTES.get(environ["PATH_INFO"])
    if view is None:
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"no such page\n"]
    body = json.dumps(view(parse_qs(environ["QUERY_STRING"]))).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]

