#!/usr/bin/env python3
"""dns.py PORT: name server of the partner zone, behind the cluster's address translation.

Two queries that one client sends at the same moment race for the translation's table, and the
second packet may be dropped (insert_failed); here it is every third such pair. A query that
comes alone is always answered. Names have an A record only."""
import socket
import struct
import sys
import threading
import time

port = int(sys.argv[1])
tcp = socket.create_server(("127.0.0.1", port))  # for the readiness probe; nothing is served over it


def accept():
    while True:
        tcp.accept()[0].close()


threading.Thread(target=accept, daemon=True).start()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", port))
seen = {}  # name -> when it was last asked for
pairs = 0
lost = 0
while True:
    query, peer = udp.recvfrom(1500)
    now = time.monotonic()
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
        at += 1 + query[at]
    kind = struct.unpack(">H", query[at + 1:at + 3])[0]
    question = query[12:at + 5]
    name = ".".join(labels)
    before, other = seen.pop(name, (0, kind))
    if now - before < 0.003 and other != kind:
        pairs += 1
        if pairs % 3 == 0:
            lost += 1
            print(f"insert_failed {lost}: {name} {'AAAA' if kind == 28 else 'A'}", file=sys.stderr, flush=True)
            continue
    else:
        seen[name] = (now, kind)
    answer = b""
    if kind == 1:
        answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 5, 4) + bytes([127, 0, 0, 1])
    udp.sendto(query[:2] + struct.pack(">HHHHH", 0x8580, 1, 1 if answer else 0, 0, 0) + question + answer, peer)
