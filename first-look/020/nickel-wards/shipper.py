"""omprog program: confirms each line; once it holds lines for BATCH seconds it sends them to the archive and waits for it."""
import os, socket, sys, threading, time, zlib

BATCH, REPLY = 0.6, 0.2

def archive(server):                      # the archive in the other house: takes a batch, syncs it, replies
    while True:
        c, _ = server.accept()
        size = int.from_bytes(c.recv(4), "big")
        while size > 0:
            size -= len(c.recv(65536))
        time.sleep(REPLY)
        c.sendall(b"ok")
        c.close()

def ship(port, lines):
    data = zlib.compress(b"".join(lines))
    with socket.create_connection(("127.0.0.1", port)) as c:
        c.sendall(len(data).to_bytes(4, "big") + data)
        c.recv(2)

server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=archive, args=(server,), daemon=True).start()
port = server.getsockname()[1]
out = sys.stdout.buffer
out.write(b"OK\n")
out.flush()
lines, since = [], time.monotonic()
for line in sys.stdin.buffer:
    lines.append(line)
    if time.monotonic() - since > BATCH:
        ship(port, lines)
        lines, since = [], time.monotonic()
    out.write(b"OK\n")
    out.flush()
