"""The partners' sales: every 0.8 s each of the five partners delivers a batch of
lines over some 70 ms, which is written in one transaction per partner."""
import http.server
import sys
import threading
import time

import psycopg2

PARTNERS = ["eventful", "kinopass", "matinee", "screenclub", "lastrow"]
together = threading.Barrier(len(PARTNERS))


def lines(seed):
    """A batch as it comes in from the partner's feed."""
    for i in range(7):
        yield (1 + (seed * 31 + i) % 400, (seed + i * 7) % 160, 900 + (seed * 13 + i) % 700)
        time.sleep(0.010)


def partner(name, port):
    while True:
        try:
            db = psycopg2.connect(
                host="127.0.0.1", port=port, user="cinema", dbname="cinema", application_name="partner-sales"
            )
            break
        except psycopg2.OperationalError:
            time.sleep(0.2)
    cursor = db.cursor()
    seed = hash(name) & 0xFFFF
    start = time.monotonic()
    while True:
        start += 0.8
        time.sleep(max(0.0, start - time.monotonic()))
        together.wait()
        for show, seat, cents in lines(seed):
            cursor.execute(
                "INSERT INTO partner_sales (partner, show_id, seat, cents) VALUES (%s, %s, %s, %s)",
                (name, show, seat, cents),
            )
        db.commit()
        seed += 1


class Status(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args):
        pass


own_port, db_port = int(sys.argv[1]), int(sys.argv[2])
for p in PARTNERS:
    threading.Thread(target=partner, args=(p, db_port), daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", own_port), Status).serve_forever()
