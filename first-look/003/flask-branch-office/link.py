"""A link between two sites: two network namespaces joined by TUN devices and a router in user space.
link.py PORT [delay_ms=N] [mtu=N] [table=N] [ports=LOW-HIGH]
delay_ms: one way; mtu: larger packets vanish (no ICMP); table: places of the router's connection table (a place is free 0.4 s
after the last FIN), without a free place a SYN vanishes; ports: local ports of site A."""
import ctypes, fcntl, heapq, os, select, signal, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
if os.path.exists(f"/tmp/link-{sys.argv[1]}"):
    os.unlink(f"/tmp/link-{sys.argv[1]}")
opt = dict(a.split("=") for a in sys.argv[2:])
delay, mtu, table = float(opt.get("delay_ms", 0)) / 1e3, int(opt.get("mtu", 0)), int(opt.get("table", 0))

def site(address, settings):
    assert libc.unshare(0x40000000) == 0, "unshare"
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, 0x400454CA, struct.pack("16sH", b"wan0", 0x1001))
    for c in (["addr", "add", address + "/24", "dev", "wan0"], ["link", "set", "wan0", "mtu", "1500", "up"], ["link", "set", "lo", "up"]):
        subprocess.run(["ip", *c], check=True)
    for k, v in settings.items():
        open("/proc/sys/net/ipv4/" + k, "w").write(v)
    return fd, os.open("/proc/self/ns/net", os.O_RDONLY)

common = {"tcp_mtu_probing": "1", "tcp_retries1": "1"} if mtu else {}
a, ns_a = site("10.9.0.1", {**common, **({"ip_local_port_range": opt["ports"].replace("-", " "), "tcp_tw_reuse": "1", "tcp_tw_reuse_delay": "600"} if "ports" in opt else {})})
b, ns_b = site("10.9.0.2", common)
note = f"/tmp/link-{sys.argv[1]}"
def stop(*_):
    os.unlink(note)
    os._exit(0)
signal.signal(signal.SIGTERM, stop)
with open(f"/tmp/link-{sys.argv[1]}.new", "w") as f:
    f.write(f"/proc/{os.getpid()}/fd/{ns_a} /proc/{os.getpid()}/fd/{ns_b}")
os.rename(f"/tmp/link-{sys.argv[1]}.new", f"/tmp/link-{sys.argv[1]}")

waiting, number, places, lost = [], 0, {}, 0

def vanishes(p, now):
    global lost
    if mtu and len(p) > mtu:
        return True
    if table and p[9] == 6:
        h = (p[0] & 15) * 4
        ports = tuple(sorted(struct.unpack("!HH", p[h:h + 4])))
        flags = p[h + 13]
        if flags & 2 and not flags & 16 and ports not in places:
            for k in [k for k, t in places.items() if t < now]:
                del places[k]
            if len(places) >= table:
                lost += 1
                print("connection table full, SYN dropped", lost, flush=True)
                return True
        if ports in places or flags & 2:
            places[ports] = now + (0.4 if flags & 5 or places.get(ports, 1e18) < now + 1 else 300)
    return False

while True:
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        _, _, out, p = heapq.heappop(waiting)
        os.write(out, p)
    ready, _, _ = select.select([a, b], [], [], max(0, waiting[0][0] - time.monotonic()) if waiting else 1)
    for fd in ready:
        for _ in range(64):
            try:
                p = os.read(fd, 65536)
            except BlockingIOError:
                break
            now = time.monotonic()
            if p[0] >> 4 == 4 and not vanishes(p, now):
                number += 1
                heapq.heappush(waiting, (now + delay, number, b if fd == a else a, p))
