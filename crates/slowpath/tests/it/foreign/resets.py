"""A server that takes connections away, each time in one way that its kernel can tell.

    resets.py PORT MODE

Of every 10 requests one meets the fault of MODE: "unread" closes with a part of the request not
read, "linger" closes with SO_LINGER of 0 s, "orderly" closes as one should, before the answer,
"each" does one of these in turn; "exit" ends the process with the 100th request; "full" accepts no
more than 4 connections; "healthy" does none of that.
"""

import os
import socket
import struct
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
EVERY = 10
FAULTS = ["unread", "linger", "orderly"]
LAST = 100
lock = threading.Lock()
served = 0


def number():
    global served
    with lock:
        served += 1
        return served


def serve(connection, mode):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while True:
        request = connection.recv(8)
        if not request:
            break
        count = number()
        turn, rest = divmod(count, EVERY)
        fault = None
        if rest == 0:
            fault = FAULTS[turn % len(FAULTS)] if mode == "each" else mode
        if fault == "unread":
            break
        while b"\r\n\r\n" not in request:
            request += connection.recv(4096)
        if mode == "exit" and count >= LAST:
            # What ends a server as a rule cares for no request that it has read.
            os._exit(1)
        if fault == "linger":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            break
        if fault == "orderly":
            break
        connection.sendall(ANSWER)
    connection.close()


def main():
    port, mode = int(sys.argv[1]), sys.argv[2]
    full = mode == "full"
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1 if full else 1024)
    accepted = 0
    while True:
        connection, _ = listener.accept()
        accepted += 1
        threading.Thread(target=serve, args=(connection, mode), daemon=True).start()
        while full and accepted >= 4:
            time.sleep(60)


main()
