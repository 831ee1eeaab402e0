"""The cache node whose process hangs: the kernel takes the connections, nobody answers a command."""
import signal
import socket
import sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
kept = []
while True:
    c, _ = s.accept()
    kept.append(c)
    if len(kept) > 400:
        kept.pop(0).close()
