"""A cache node: memcached, which the host's hypervisor may have paused (node.py PORT running|paused)."""
import os
import signal
import subprocess
import sys
import time

port, state = sys.argv[1:3]
user = ["-u", "root"] if os.getuid() == 0 else []
node = subprocess.Popen(["memcached", "-l", "127.0.0.1", "-p", port, "-U", "0", "-m", "64", "-t", "2"] + user)


def end(*_):
    node.kill()
    node.wait()
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
if state == "paused":
    time.sleep(1)  # it listens by then
    node.send_signal(signal.SIGSTOP)
while node.poll() is None:
    signal.pause()
