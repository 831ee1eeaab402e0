"""The resolver of the office: answers every A question with 127.0.0.1, TTL as told, after as long as its forwarder takes."""
import heapq, select, socket, struct, sys, time
port, delay, ttl = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", port))
tcp = socket.socket()
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
tcp.bind(("127.0.0.1", port))
tcp.listen(8)
due = []
while True:
    wait = max(0, due[0][0] - time.monotonic()) if due else None
    ready, _, _ = select.select([udp, tcp], [], [], wait)
    while due and due[0][0] <= time.monotonic():
        _, data, addr = heapq.heappop(due)
        udp.sendto(data, addr)
    if tcp in ready:
        tcp.accept()[0].close()
    if udp in ready:
        q, addr = udp.recvfrom(2048)
        end = q.index(b"\0", 12) + 5
        isa = q[end - 4:end - 2] == b"\0\1"
        head = q[:2] + struct.pack(">HHHHH", 0x8180, 1, int(isa), 0, 0)
        body = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, ttl, 4) + bytes([127, 0, 0, 1]) if isa else b""
        heapq.heappush(due, (time.monotonic() + delay, head + q[12:end] + body, addr))
