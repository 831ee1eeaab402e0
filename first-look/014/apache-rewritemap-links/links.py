#!/usr/bin/env python3
"""The map program of mod_rewrite: a key a line in, the name of a page a line out.
Links since 2015 are in sqlite. Older ones (old...) are in the archive, asked over TCP,
unless they have been copied into sqlite too."""
import socket, sqlite3, sys

db = sqlite3.connect(sys.argv[1])
old_links, archive_port = sys.argv[2], int(sys.argv[3])
archive = None

def ask_archive(key):
    global archive
    for _ in range(2):
        try:
            if archive is None:
                archive = socket.create_connection(("127.0.0.1", archive_port)).makefile("rw")
            archive.write(key + "\n"); archive.flush()
            return archive.readline().strip() or "NULL"
        except OSError:
            archive = None
    return "NULL"

while line := sys.stdin.readline():
    key = line.strip()
    if key.startswith("old") and old_links == "archive":
        page = ask_archive(key)
    else:
        row = db.execute("SELECT page FROM links WHERE key = ?", (key,)).fetchone()
        page = row[0] if row else "NULL"
    sys.stdout.write(page + "\n")
    sys.stdout.flush()
