"""Starts kea-dhcp4 with a lease file of LEASES leases; listens on a port as health check."""
import os, random, signal, socket, subprocess, sys, time

port, tmp, shared, cache = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
leases = int(os.environ.get("LEASES", "7500"))
os.makedirs(shared, exist_ok=True)
for name in os.listdir(shared):
    os.unlink(os.path.join(shared, name))
rnd = random.Random(7)
end = int(time.time()) + 86400
csv = os.path.join(tmp, "kea-leases4.csv")
with open(csv, "w") as f:
    f.write("address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n")
    for i in range(leases):
        a = "10.20.%d.%d" % (i // 250, i % 250 + 1)
        hw = "02:16:3e:%02x:%02x:%02x" % (i >> 16, (i >> 8) & 255, i & 255)
        f.write("%s,%s,,86400,%d,1,0,0,host-%d.site%d.example.org,0,\n" % (a, hw, end - rnd.randrange(30000), i, i % 40))
hooks = "/usr/lib/x86_64-linux-gnu/kea/hooks"
conf = os.path.join(tmp, "dhcp4.conf")
with open(conf, "w") as f:
    f.write("""{ "Dhcp4": {
  "interfaces-config": { "interfaces": [] },
  "control-socket": { "socket-type": "unix", "socket-name": "%s/dhcp4.sock" },
  "lease-database": { "type": "memfile", "persist": true, "name": "%s", "lfc-interval": 0 },
  "hooks-libraries": [ { "library": "%s/libdhcp_lease_cmds.so" }, { "library": "%s/libdhcp_stat_cmds.so" } ],
  "valid-lifetime": 86400,
  "subnet4": [ { "id": 1, "subnet": "10.20.0.0/16", "pools": [ { "pool": "10.20.0.1-10.20.250.254" } ] } ],
  "loggers": [ { "name": "kea-dhcp4", "severity": "ERROR", "output_options": [ { "output": "stderr" } ] } ]
} }
""" % (shared, csv, hooks, hooks))
env = dict(os.environ, KEA_PIDFILE_DIR=tmp, KEA_LOCKFILE_DIR=tmp)
child = subprocess.Popen(["/usr/sbin/kea-dhcp4", "-c", conf], env=env)

def stop(*_):
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
    os._exit(0)

signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
while not os.path.exists(shared + "/dhcp4.sock"):
    if child.poll() is not None:
        sys.exit(1)
    time.sleep(0.1)
s = socket.create_server(("127.0.0.1", port))
s.settimeout(1)
while child.poll() is None:
    try:
        s.accept()[0].close()
    except TimeoutError:
        pass
