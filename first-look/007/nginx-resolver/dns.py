"""The DNS server of the branch office: answers A queries for *.shop.test with 127.0.0.1 and a short
time to live, as a service registry does; every answer takes it a trip to the registry behind it."""
import socket, struct, sys, threading, time

PORT, TTL, TRIP = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", PORT))
tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)   # shows that it is up
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
tcp.bind(("127.0.0.1", PORT))
tcp.listen(16)

def answer(q, who):
    end = 12
    while q[end]:
        end += 1 + q[end]
    qtype = struct.unpack(">H", q[end + 1:end + 3])[0]
    time.sleep(TRIP)
    head = q[:2] + struct.pack(">HHHHH", 0x8180, 1, 1 if qtype == 1 else 0, 0, 0)
    body = q[12:end + 5]
    if qtype == 1:
        body += b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, TTL, 4) + bytes([127, 0, 0, 1])
    sock.sendto(head + body, who)

while True:
    q, who = sock.recvfrom(2048)
    threading.Thread(target=answer, args=(q, who), daemon=True).start()
