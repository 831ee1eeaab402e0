#!/usr/bin/env python3
"""Some first requests, so that mod_fcgid has started its processes; then says that the site is ready."""
import sys, threading, time, urllib.request
base = f"http://127.0.0.1:{sys.argv[1]}"

def get(path):
    try:
        urllib.request.urlopen(base + path, timeout=20).read()
    except OSError:
        pass

for _ in range(100):
    try:
        urllib.request.urlopen(base + "/index.html", timeout=2).read()
        break
    except OSError:
        time.sleep(0.1)
for _ in range(4):
    some = [threading.Thread(target=get, args=(f"/quote/label/first{i}",)) for i in range(min(12, int(sys.argv[2])))]
    for t in some: t.start()
    for t in some: t.join()
time.sleep(0.5)
open(sys.argv[3], "w").write("ready\n")
