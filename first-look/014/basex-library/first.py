#!/usr/bin/env python3
"""Some first requests, so that the Java compiler has done its work; then says that the server is ready."""
import sys, time, urllib.request
base = f"http://127.0.0.1:{sys.argv[1]}"

def get(path):
    try:
        urllib.request.urlopen(base + path, timeout=5).read()
        return True
    except OSError:
        return False

for _ in range(200):
    if get("/member/1"):
        break
    time.sleep(0.1)
end = time.monotonic() + 6
i = 0
while time.monotonic() < end:
    i += 1
    get(f"/member/{i % 300}"); get(f"/member/{i * 7 % 300}"); get(f"/copy/B{i * 37 % 32000:07d}")
open(sys.argv[2], "w").write("ready\n")
