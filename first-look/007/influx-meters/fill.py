"""Creates the database, fills it with readings of 1000 meters."""
import sys, time, urllib.parse, urllib.request
base = f"http://127.0.0.1:{sys.argv[1]}"
def post(path, body=b""):
    return urllib.request.urlopen(urllib.request.Request(base + path, data=body, method="POST"), timeout=10).read()
for _ in range(100):
    try:
        urllib.request.urlopen(base + "/ping", timeout=1)
        break
    except OSError:
        time.sleep(0.1)
post("/query?" + urllib.parse.urlencode({"q": "CREATE DATABASE meters"}))
t0 = 1_700_000_000
for m in range(0, 1000, 20):
    lines = [f"power,meter=m{k} watts={(k * 37 + t * 11) % 900} {(t0 + t * 300) * 10**9}" for k in range(m + 1, m + 21) for t in range(60)]
    post("/write?db=meters", "\n".join(lines).encode())
