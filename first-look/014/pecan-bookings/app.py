"""Court bookings: Pecan on cheroot, SQLAlchemy, PostgreSQL.

Three threads keep the calendars of three partner clubs in step. Each one opens
a transaction, asks the club, then writes what it heard."""
import gc
import os
import threading
import time
import requests
from cheroot.wsgi import Server
from pecan import expose, make_app
from pecan.rest import RestController
from sqlalchemy import create_engine, text

POOL = int(os.environ.get("POOL_SIZE", "3"))
engine = create_engine(
    "postgresql+psycopg2://app@127.0.0.1:%s/bookings" % os.environ["DB_PORT"],
    pool_size=POOL, max_overflow=0, pool_timeout=20)
CLUBS = "http://127.0.0.1:%s/calendar/" % os.environ["CLUBS_PORT"]
EVERY = float(os.environ.get("SYNC_EVERY", "0.6"))

if os.environ.get("POOL_LOG"):          # evidence only: how long each checkout waited
    plain_connect = engine.pool.connect
    log = open(os.environ["POOL_LOG"], "a", buffering=1)
    def timed_connect():
        t = time.monotonic()
        conn = plain_connect()
        log.write("%s %.1f\n" % (threading.current_thread().name, (time.monotonic() - t) * 1000))
        return conn
    engine.pool.connect = timed_connect


def sync_calendar(club):
    session = requests.Session()
    session.trust_env = False
    while True:
        time.sleep(EVERY - time.time() % EVERY)
        with engine.begin() as db:
            known = db.execute(text("select free from courts where id = :i"), {"i": club}).scalar()
            heard = session.get(CLUBS + str(club), timeout=5).json()["free"][0]
            if known != heard:
                db.execute(text("update courts set free = :f where id = :i"), {"f": heard, "i": club})


class Courts(RestController):
    @expose("json")
    def get_one(self, ident):
        with engine.connect() as db:
            row = db.execute(text("select id, name, free from courts where id = :i"), {"i": int(ident)}).one()
            n = db.execute(text("select count(*) from bookings where court = :i"), {"i": int(ident)}).scalar()
        return {"id": row.id, "name": row.name, "free": row.free, "booked": n}


class Bookings(RestController):
    @expose("json")
    def post(self, court):
        with engine.begin() as db:
            free = db.execute(text("select free from courts where id = :i"), {"i": int(court)}).scalar()
            if free:
                db.execute(text("insert into bookings (court, player) values (:c, 'web')"), {"c": int(court)})
        return {"booked": bool(free)}


class Health:
    @expose("json")
    def index(self):
        return {"ok": True}


class Root:
    courts = Courts()
    bookings = Bookings()
    health = Health()


app = make_app(Root(), debug=False)

if __name__ == "__main__":
    gc.collect()
    gc.freeze()
    held = [engine.connect() for _ in range(POOL)]      # open the connections before the first visitor
    for conn in held:
        conn.close()
    for club in (1, 2, 3):
        threading.Thread(target=sync_calendar, args=(club,), name="calendar-%d" % club, daemon=True).start()
    Server(("127.0.0.1", int(os.environ["PORT"])), app,
           numthreads=int(os.environ.get("THREADS", "16")), request_queue_size=128, timeout=60).safe_start()
