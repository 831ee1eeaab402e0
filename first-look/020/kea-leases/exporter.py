"""Exporter of lease counts for Prometheus: asks kea-dhcp4 on its command socket, as kea-exporter does."""
import json, os, socket, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, shared = int(sys.argv[1]), sys.argv[2]
source = os.environ.get("SOURCE", "statistics")
pause = float(os.environ.get("INTERVAL", "0.6"))
timing = os.environ.get("TIMING_LOG")
counts = {}

def ask(command, arguments=None):
    s = socket.socket(socket.AF_UNIX)
    s.connect(shared + "/dhcp4.sock")
    request = {"command": command}
    if arguments:
        request["arguments"] = arguments
    s.sendall(json.dumps(request).encode())
    parts = []
    while True:
        p = s.recv(262144)
        if not p:
            break
        parts.append(p)
    s.close()
    return b"".join(parts)

def collect():
    if source == "leases":
        answer = ask("lease4-get-all", {"subnets": [1]})
        counts["assigned"] = answer.count(b'"state": 0')
        counts["declined"] = answer.count(b'"state": 1')
    else:
        rows = json.loads(ask("stat-lease4-get", {"subnet-id": 1}))["arguments"]["result-set"]
        for name, value in zip(rows["columns"], rows["rows"][0]):
            counts[name] = value

def loop():
    while True:
        t = time.time()
        try:
            collect()
        except (OSError, ValueError, KeyError) as e:
            print("collect:", e, file=sys.stderr)
        if timing:
            with open(timing, "a") as f:
                f.write("%.3f %.1f %s\n" % (t, (time.time() - t) * 1e3, counts))
        time.sleep(pause)

class Metrics(BaseHTTPRequestHandler):
    def do_GET(self):
        body = "".join("kea_dhcp4_leases{kind=\"%s\"} %s\n" % kv for kv in counts.items()).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass

for _ in range(200):
    if os.path.exists(shared + "/dhcp4.sock"):
        break
    time.sleep(0.1)
threading.Thread(target=loop, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", port), Metrics).serve_forever()
