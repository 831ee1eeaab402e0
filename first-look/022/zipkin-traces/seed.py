"""Writes the spans of the last hours to Zipkin, newest traces last."""
import http.client
import json
import random
import sys
import time

port = int(sys.argv[1])
TRACES = 28000
SERVICES = ["frontend", "basket", "checkout", "stock", "search", "mail", "invoices", "login"]
rng = random.Random(7)
limit = time.time() + 50


def call(method, path, body=None):
    connection.request(method, path, body, {"content-type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


while True:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        if call("GET", "/health")[0] == 200:
            break
    except OSError:
        connection.close()
    if time.time() > limit:
        sys.exit(1)
    time.sleep(0.3)

begin = int((time.time() - 6 * 3600) * 1e6)
step = 6 * 3600 * 1000000 // (TRACES + 10)
spans = []
for n in range(TRACES):
    trace = "%016x" % (0x10000 + n)
    at = begin + n * step
    first, second = rng.sample(SERVICES, 2)
    length = rng.randrange(800, 60000)
    root = {
        "traceId": trace, "id": trace, "kind": "SERVER", "name": "get /%s" % first, "timestamp": at,
        "duration": length, "localEndpoint": {"serviceName": first},
        "tags": {"http.method": "GET", "http.path": "/%s/%d" % (first, n % 900)},
    }
    if n % 5000 == 2500:
        root["tags"]["error"] = "timeout"
    child = {
        "traceId": trace, "id": "%016x" % (0x9000000 + n), "parentId": trace, "kind": "CLIENT",
        "name": "get /%s" % second, "timestamp": at + 300, "duration": length // 2,
        "localEndpoint": {"serviceName": first}, "remoteEndpoint": {"serviceName": second},
        "tags": {"http.method": "GET"},
    }
    spans += [root, child]
    if len(spans) >= 1000:
        call("POST", "/api/v2/spans", json.dumps(spans))
        spans = []
if spans:
    call("POST", "/api/v2/spans", json.dumps(spans))

# as the dashboards do: the code is compiled before the load begins
for n in range(25):
    call("GET", "/api/v2/traces?annotationQuery=error&lookback=86400000&limit=10")
    for m in range(40):
        call("GET", "/api/v2/trace/%016x" % (0x10000 + TRACES - 1 - m))
        call("GET", "/zipkin/config.json")

done = {
    "traceId": "00000000000000ff", "id": "00000000000000ff", "name": "seeded",
    "timestamp": int(time.time() * 1e6), "duration": 1000, "localEndpoint": {"serviceName": "seed"},
}
call("POST", "/api/v2/spans", json.dumps([done]))
