"""Roster import: each 0.75 s the rosters of four sites, each one in a transaction of its own,
are written page by page as the agency's feed delivers them. `importer.py PORT SHARED` also answers
"ok" on PORT (the supervisor looks there); SHARED has the ports of the others."""
import http.client
import json
import os
import pathlib
import signal
import socketserver
import sys
import threading
import time

import psycopg2

SITES = 4
EVERY = 0.75


def port_of(name):
    return int(pathlib.Path(sys.argv[2], name + ".port").read_text())


def site(number, gate):
    db = psycopg2.connect(host="127.0.0.1", port=port_of("db"), user="kinto", dbname="kinto",
                          application_name="roster-import")
    feed = http.client.HTTPConnection("127.0.0.1", port_of("feed"))
    while True:
        gate.wait()
        feed.request("GET", f"/roster?site={number}")
        answer = feed.getresponse()
        cursor = db.cursor()
        for line in answer:
            page = json.loads(line)
            cursor.executemany("INSERT INTO roster (page, employee, shift) VALUES (%s, %s, %s)",
                               [(page["page"], number * 1000 + n, shift) for n, shift in page["rows"]])
        db.commit()


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"ok\n")


def main():
    gate = threading.Barrier(SITES + 1)
    for number in range(SITES):
        threading.Thread(target=site, args=(number, gate), daemon=True).start()
    server = socketserver.TCPServer(("127.0.0.1", int(sys.argv[1])), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
    due = time.monotonic()
    while True:
        due += EVERY
        time.sleep(max(0, due - time.monotonic()))
        gate.wait()


main()
