#!/usr/bin/env python3
"""start-proxy.py PORT TMP SHARED RETRY_MS: twemproxy in front of the three memcached"""
import os, socket, sys, time

port, tmp, shared, retry = sys.argv[1:5]
servers = []
for name in ("cache-a", "cache-b", "cache-c"):
    path = os.path.join(shared, name)
    for _ in range(200):
        if os.path.exists(path) and open(path).read():
            break
        time.sleep(0.1)
    servers.append((open(path).read(), name))
conf = os.path.join(tmp, "nutcracker.yml")
with open(conf, "w") as f:
    f.write(f"""recipes:
  listen: 127.0.0.1:{port}
  hash: murmur
  distribution: ketama
  timeout: 200
  auto_eject_hosts: true
  server_failure_limit: 1
  server_retry_timeout: {retry}
  preconnect: false
  servers:
""")
    for address, name in servers:
        f.write(f"    - {address}:1 {name}\n")
s = socket.socket()
s.bind(("127.0.0.1", 0))
stats = s.getsockname()[1]
s.close()
with open(os.path.join(shared, "stats"), "w") as f:
    f.write(str(stats))
nutcracker = "/usr/sbin/nutcracker" if os.path.exists("/usr/sbin/nutcracker") else "nutcracker"
os.execvp(nutcracker, [nutcracker, "-c", conf, "-a", "127.0.0.1", "-s", str(stats), "-i", "5000",
                       "-v", "4", "-o", os.path.join(tmp, "nutcracker.log")])
