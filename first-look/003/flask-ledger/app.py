import os, sqlite3, sys
from flask import Flask, g
from werkzeug.serving import WSGIRequestHandler, run_simple

app = Flask(__name__)
DB = os.environ["DB"]

def db():
    if "db" not in g:
        g.db = sqlite3.connect(DB, timeout=5, isolation_level=None)
        g.db.execute("pragma synchronous=normal")
    return g.db

@app.teardown_appcontext
def close(_):
    if "db" in g:
        g.db.close()

@app.get("/")
def home():
    return "ok"

@app.get("/balance")
def balance():
    return str(db().execute("select coalesce(sum(amount), 0) from entry where id < 50").fetchone()[0])

@app.get("/book")
def book():
    c = db()
    c.execute("begin immediate")
    c.execute("insert into entry(amount) values (1)")
    c.execute("commit")
    return "booked"

if __name__ == "__main__":
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True)
