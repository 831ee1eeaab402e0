"""A memcached whose machine hangs: the kernel still accepts connections and takes bytes, the process does not run.
Starts memcached, waits until it answers, stops it (SIGSTOP); on SIGTERM it lets it run again and ends it."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

port = sys.argv[1]


def die_with_parent():
    ctypes.CDLL("libc.so.6").prctl(1, signal.SIGKILL)


child = subprocess.Popen(["memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-u", "nobody", "-m", "32"],
                         preexec_fn=die_with_parent)


def end(*_):
    child.send_signal(signal.SIGCONT)
    child.terminate()
    child.wait()
    os._exit(0)


signal.signal(signal.SIGTERM, end)
while True:
    try:
        with socket.create_connection(("127.0.0.1", int(port)), 1) as s:
            s.sendall(b"version\r\n")
            if s.recv(64):
                break
    except OSError:
        time.sleep(0.05)
child.send_signal(signal.SIGSTOP)
while True:
    signal.pause()
