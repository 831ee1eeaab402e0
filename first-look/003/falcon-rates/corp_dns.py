"""the company's name server: knows nothing of other people's names and takes DELAY seconds to say so"""
import os, socket, struct, sys, threading, time
port = int(sys.argv[1]); delay = float(os.environ.get("DELAY", "0.04"))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", port))
t = socket.socket(); t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); t.bind(("127.0.0.1", port)); t.listen(5)
def answer(q, peer):
    time.sleep(delay)
    end = q.index(b"\0", 12) + 5
    s.sendto(q[:2] + b"\x85\x83" + struct.pack(">HHHH", 1, 0, 0, 0) + q[12:end], peer)
while True:
    q, peer = s.recvfrom(1500)
    threading.Thread(target=answer, args=(q, peer), daemon=True).start()
