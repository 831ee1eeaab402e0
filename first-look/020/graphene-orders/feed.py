"""Price feed importer: two wholesalers publish their prices in portions at the
same moments; each portion is imported in one transaction per wholesaler, one
upsert per line, as the lines come in. feed.py STATUS_PORT SHARED"""
import os, random, signal, socket, sys, threading, time
import psycopg

signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
PORTION = int(os.environ.get("PORTION", "40"))
TRACE = os.environ.get("FEED_TRACE")
UPSERT = ("INSERT INTO supplier_price (supplier, article, price) VALUES (%s, %s, %s) "
          "ON CONFLICT (supplier, article) DO UPDATE SET price = excluded.price, seen_at = now()")


def connect():
    while True:
        try:
            port = open(sys.argv[2] + "/db.port").read().strip()
            return psycopg.connect(host="127.0.0.1", port=port, user="shop", dbname="shop")
        except (OSError, psycopg.OperationalError):
            time.sleep(0.2)


def importer(supplier, published):
    con = connect()
    while True:
        published.wait()
        begin = time.perf_counter()
        with con.transaction():
            cur = con.cursor()
            for article in random.sample(range(1, 1001), PORTION):
                cur.execute(UPSERT, (supplier, article, article + random.randint(0, 99) / 100))
                time.sleep(0.0015)   # the wholesaler sends some 600 lines a second
            done = time.perf_counter()
        if TRACE:
            print("portion %.1f ms, commit %.1f ms" % ((done - begin) * 1e3, (time.perf_counter() - done) * 1e3),
                  file=open(TRACE, "a"), flush=True)


def status():
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    while True:
        server.accept()[0].close()


random.seed(5)
threading.Thread(target=status, daemon=True).start()
published = threading.Barrier(3)
for supplier in (1, 2):
    threading.Thread(target=importer, args=(supplier, published), daemon=True).start()
while True:
    published.wait()
    time.sleep(random.uniform(0.5, 0.65))   # until the next portion is published
