"""Ships what the server writes to its log pipe: reads for 0.4 s, sends the batch to the log
store, waits until the store has it, reads on."""
import http.client, os, select, socket, sys, threading, time

port, shared = int(sys.argv[1]), sys.argv[2]
pipe = os.path.join(shared, "log.pipe")
os.mkfifo(pipe)
fd = os.open(pipe, os.O_RDWR)          # a writer of our own: no end of file when the server restarts
with open(os.path.join(shared, "collector.port")) as f:
    store = http.client.HTTPConnection("127.0.0.1", int(f.read()), timeout=10)
stats = {"lines": 0, "bytes": 0, "batches": 0}


def status():
    s = socket.create_server(("127.0.0.1", port))
    while True:
        c, _ = s.accept()
        c.sendall((" ".join(f"{k}={v}" for k, v in stats.items()) + "\n").encode())
        c.close()


threading.Thread(target=status, daemon=True).start()
while True:
    batch, until = b"", time.monotonic() + 0.4
    while (left := until - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            batch += os.read(fd, 1 << 16)
    if batch:
        stats["lines"] += batch.count(b"\n")
        stats["bytes"] += len(batch)
        stats["batches"] += 1
        try:
            store.request("POST", "/bulk", batch)
            store.getresponse().read()
        except (OSError, http.client.HTTPException):
            store.close()
