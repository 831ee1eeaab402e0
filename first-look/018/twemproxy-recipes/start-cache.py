#!/usr/bin/env python3
"""start-cache.py NAME PORT SHARED [first] [hung]

One memcached of the cluster; its address goes to SHARED/NAME.  With "hung" the
process is stopped as soon as it listens: its host takes connections (the
kernel does) but nothing answers any more."""
import os, shutil, signal, socket, subprocess, sys, time

name, port, shared = sys.argv[1:4]
if "first" in sys.argv[4:]:
    shutil.rmtree(shared, ignore_errors=True)
os.makedirs(shared, exist_ok=True)
with open(os.path.join(shared, name), "w") as f:
    f.write("127.0.0.1:%s" % port)
cmd = ["memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "32", "-t", "1"]
if os.getuid() == 0:
    cmd += ["-u", "nobody"]
if "hung" not in sys.argv[4:]:
    os.execvp(cmd[0], cmd)

child = subprocess.Popen(cmd)


def end(*_):
    child.send_signal(signal.SIGCONT)
    child.terminate()
    child.wait()
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
while True:
    try:
        socket.create_connection(("127.0.0.1", int(port)), 1).close()
        break
    except OSError:
        time.sleep(0.05)
child.send_signal(signal.SIGSTOP)
while True:
    signal.pause()
