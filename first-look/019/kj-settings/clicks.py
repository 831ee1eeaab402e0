#!/usr/bin/env python3
"""clicks.py PORT SHARED: takes the shops' click streams into the database.

Six feeds arrive in batches, every 0.8 s; each feed has its connection and
writes its batch in one transaction, row by row as the feed sends them. PORT
answers with the number of batches.
"""
import asyncio
import os
import sys

import psycopg2
import threading
import time

PORT, SHARED = int(sys.argv[1]), sys.argv[2]
EVERY, ROWS, GAP = 0.8, 6, 0.016
TRACE = os.environ.get("CLICKS_TRACE")
batches = 0


def db_port():
    while True:
        try:
            with open(os.path.join(SHARED, "db.port")) as f:
                return int(f.read())
        except (OSError, ValueError):
            time.sleep(0.1)


def feed(number, link, start):
    global batches
    cursor = link.cursor()
    due = start
    while True:
        time.sleep(max(0, due - time.monotonic()))
        due += EVERY
        begin = time.time()
        for row in range(ROWS):
            cursor.execute("insert into clicks (feed, page) values (%s, %s)", (number, "/item/%d" % row))
            time.sleep(GAP)
        before = time.time()
        link.commit()
        batches += 1
        if TRACE:
            print("batch %.3f %.3f feed %d commit_ms=%.1f" % (begin, before, number, (time.time() - before) * 1e3), flush=True)


def main():
    port = db_port()
    links = []
    while len(links) < 6:
        try:
            links.append(psycopg2.connect(host="127.0.0.1", port=port, user="postgres", dbname="settings"))
        except psycopg2.OperationalError:
            time.sleep(0.2)
    start = time.monotonic() + 0.5
    for number, link in enumerate(links):
        threading.Thread(target=feed, args=(number, link, start), daemon=True).start()


async def serve(reader, writer):
    try:
        await reader.readuntil(b"\r\n\r\n")
        body = b"%d\n" % batches
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def listen():
    server = await asyncio.start_server(serve, "127.0.0.1", PORT)
    async with server:
        await server.serve_forever()


threading.Thread(target=main, daemon=True).start()
asyncio.run(listen())
