"""Creates the bucket, one collection for each team and the preferences of its people."""
import base64
import json
import sys
import time
import urllib.error
import urllib.request

base = f"http://127.0.0.1:{sys.argv[1]}/v1"
auth = "Basic " + base64.b64encode(b"portal:portal").decode()


def put(path, data):
    request = urllib.request.Request(base + path, method="PUT", data=json.dumps({"data": data}).encode(),
                                     headers={"Authorization": auth, "Content-Type": "application/json"})
    urllib.request.urlopen(request).read()


for attempt in range(100):
    try:
        urllib.request.urlopen(base + "/").read()
        break
    except (urllib.error.URLError, ConnectionError):
        time.sleep(0.2)
put("/buckets/portal", {})
for team in range(12):
    put(f"/buckets/portal/collections/team{team}", {})
    for person in range(8):
        put(f"/buckets/portal/collections/team{team}/records/p{person}",
            {"theme": "light", "language": "en", "columns": ["name", "due", "state"], "visits": 0})
