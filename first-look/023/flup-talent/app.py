"""Screening of applicants: a GraphQL API that asks the sign-in service about the bearer's token on each request."""
import http.client
import os
import signal
import sqlite3
import sys
import threading
from typing import List, Optional

import strawberry
from flask import Flask, g, jsonify, request
from flup.server.fcgi_fork import WSGIServer
from strawberry.flask.views import GraphQLView

DB = os.environ["TALENT_DB"]
SIGN_IN = int(os.environ["SIGN_IN_PORT"])
local = threading.local()


def database():
    if not hasattr(local, "db"):
        local.db = sqlite3.connect("file:%s?mode=ro" % DB, uri=True, check_same_thread=False)
        local.db.row_factory = sqlite3.Row
    return local.db


def introspect(token):
    """Who the token belongs to (RFC 7662); each worker keeps its connection to the sign-in service."""
    for attempt in (0, 1):
        if not hasattr(local, "sign_in"):
            local.sign_in = http.client.HTTPConnection("127.0.0.1", SIGN_IN, timeout=10)
        try:
            local.sign_in.request("POST", "/introspect", "token=" + token, {"Content-Type": "application/x-www-form-urlencoded"})
            return local.sign_in.getresponse().read().decode()
        except (http.client.HTTPException, OSError):
            local.sign_in.close()
            del local.sign_in
            if attempt:
                raise


@strawberry.type
class Candidate:
    id: int
    name: str
    status: str
    priority: int
    skills: List[str]


@strawberry.type
class Pool:
    id: int
    name: str
    candidates: List[Candidate]


def candidate(row):
    return Candidate(id=row["id"], name=row["name"], status=row["status"], priority=row["priority"], skills=row["skills"].split(","))


@strawberry.type
class Query:
    @strawberry.field
    def pool(self, id: int, status: str = "NEW") -> Optional[Pool]:
        row = database().execute("SELECT id, name FROM pools WHERE id = ?", (id,)).fetchone()
        if row is None:
            return None
        found = database().execute(
            "SELECT * FROM candidates WHERE pool = ? AND status = ? ORDER BY priority, id LIMIT 10", (id, status)).fetchall()
        return Pool(id=row["id"], name=row["name"], candidates=[candidate(r) for r in found])

    @strawberry.field
    def candidate(self, id: int) -> Optional[Candidate]:
        row = database().execute("SELECT * FROM candidates WHERE id = ?", (id,)).fetchone()
        return candidate(row) if row else None


app = Flask(__name__)
app.add_url_rule("/graphql", view_func=GraphQLView.as_view("graphql", schema=strawberry.Schema(Query)))


@app.before_request
def authenticate():
    if request.path == "/graphql":
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer":
            return jsonify(message="unauthenticated"), 401
        g.user = introspect(token)


@app.get("/status")
def status():
    (n,) = database().execute("SELECT count(*) FROM pools").fetchone()
    return jsonify(pools=n)


class Server(WSGIServer):
    def _intHandler(self, signum, frame):
        # its children are groups of their own, and select() goes on after a signal
        for pid in list(self._children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os._exit(0)


if __name__ == "__main__":
    # socket, number of children
    children = int(sys.argv[2])
    Server(app, bindAddress=sys.argv[1], umask=0, minSpare=min(children, 5), maxSpare=children, maxChildren=children).run()
