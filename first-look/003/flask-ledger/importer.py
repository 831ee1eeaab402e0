"""nightly import that runs by day: fetches a page of entries and books it in one transaction"""
import os, socket, sqlite3, sys, threading, time
db = sqlite3.connect(os.environ["DB"], timeout=5, isolation_level=None)
db.execute("pragma journal_mode=wal")
db.execute("pragma synchronous=normal")
db.execute("create table if not exists entry(id integer primary key, amount integer)")
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen(8)
def accept():
    while True:
        s.accept()[0].close()
threading.Thread(target=accept, daemon=True).start()
hold, pause = float(os.environ["FETCH_S"]), float(os.environ["PAUSE_S"])
while True:
    db.execute("begin immediate")
    for part in range(5):
        time.sleep(hold / 5)          # the next part comes from the bank
        db.execute("insert into entry(amount) values (?)", (part,))
    db.execute("commit")
    time.sleep(pause)
