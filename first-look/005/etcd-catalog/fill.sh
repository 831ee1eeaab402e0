#!/bin/sh
# fill.sh DIR: an etcd data folder with a catalogue of 4000 keys
set -e
mkdir -p "$1"; rm -rf "$1/data"
etcd --name catalog --data-dir "$1/data" --listen-client-urls http://127.0.0.1:22379 --advertise-client-urls http://127.0.0.1:22379 \
  --listen-peer-urls http://127.0.0.1:22380 --initial-advertise-peer-urls http://127.0.0.1:22380 --initial-cluster catalog=http://127.0.0.1:22380 --logger zap --log-level error &
E=$!
python3 - <<'P'
import base64, http.client, json, random, time
random.seed(3)
for _ in range(100):
    try:
        c = http.client.HTTPConnection("127.0.0.1", 22379); c.request("GET", "/health"); c.getresponse().read(); break
    except OSError:
        time.sleep(0.1)
b = lambda s: base64.b64encode(s.encode()).decode()
for i in range(0, 4000, 100):
    ops = [{"requestPut": {"key": b(f"/catalog/{k % 20:02}/{k:05}"), "value": b(json.dumps({"id": k, "name": f"article {k}", "stock": random.randrange(500), "tags": [random.choice("abcdefgh") * 6 for _ in range(5)]}))}} for k in range(i, i + 100)]
    c.request("POST", "/v3/kv/txn", json.dumps({"success": ops}))
    r = c.getresponse(); d = r.read()
    assert r.status == 200, d
P
kill $E; wait $E || true
