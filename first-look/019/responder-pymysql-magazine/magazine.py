"""The magazine's reading API: responder (Starlette, uvicorn), SQLAlchemy Core, PyMySQL, MariaDB."""
import os
import threading
import time

import responder
from sqlalchemy import create_engine, text

engine = create_engine("mysql+pymysql://root:@127.0.0.1:%s/magazine" % os.environ["DB_PORT"],
                       pool_size=24, max_overflow=16, pool_pre_ping=False)
api = responder.API(title="magazine", version="1.0", sessions=False)

FLUSH_EVERY = 6
pending = {}
lock = threading.Lock()


def note(what, t):
    if os.environ.get("TIMING_LOG"):
        with open(os.environ["TIMING_LOG"], "a") as f:
            f.write("%.3f %s %.2f ms\n" % (time.time(), what, 1e3 * (time.perf_counter() - t)))


def count_view(article_id):
    """Views are gathered here and written when there are some, so that not each view is a write."""
    with lock:
        n = pending.get(article_id, 0) + 1
        pending[article_id] = 0 if n == FLUSH_EVERY else n
    if n == FLUSH_EVERY:
        with engine.connect() as db:
            t = time.perf_counter()
            db.execute(text("UPDATE articles SET views = views + :n WHERE id = :id"), {"n": n, "id": article_id})
            note("update", t)
            t = time.perf_counter()
            db.commit()
            note("commit", t)


@api.route("/health")
def health(req, resp):
    resp.media = {"ok": True}


@api.route("/articles/{article_id:int}")
def article(req, resp, *, article_id):
    with engine.connect() as db:
        row = db.execute(text("SELECT a.id, a.title, a.body, a.views, u.name FROM articles a JOIN authors u ON u.id = a.author_id "
                              "WHERE a.id = :id"), {"id": article_id}).first()
    if row is None:
        resp.status_code = 404
        resp.media = {"error": "no such article"}
        return
    count_view(article_id)
    resp.media = {"id": row.id, "title": row.title, "author": row.name, "views": row.views, "body": row.body}


@api.route("/authors/{author_id:int}")
def author(req, resp, *, author_id):
    with engine.connect() as db:
        row = db.execute(text("SELECT id, name, about FROM authors WHERE id = :id"), {"id": author_id}).first()
        titles = db.execute(text("SELECT id, title FROM articles WHERE author_id = :id ORDER BY id DESC LIMIT 10"), {"id": author_id}).all()
    resp.media = {"id": row.id, "name": row.name, "about": row.about, "articles": [{"id": t.id, "title": t.title} for t in titles]}


if __name__ == "__main__":
    import uvicorn
    uvicorn.run(api, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning", timeout_keep_alive=60)
