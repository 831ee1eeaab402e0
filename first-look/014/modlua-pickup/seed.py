"""Writes 400 articles and the list of shops that sell each into redis. Every tenth article is sold in 14 shops, the others in one."""
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2)
def cmd(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(x).encode() for x in words))
out, n = b"", 0
for a in range(1, 401):
    out += cmd("hset", "article:%d" % a, "name", "Article %d" % a, "cents", 300 + a * 7 % 5000)
    shops = range(1, 15) if a % 10 == 0 else [1 + a % 14]
    out += cmd("rpush", "shops:%d" % a, *shops)
    n += 2
s.sendall(out)
got = b""
while got.count(b"\r\n") < n:
    got += s.recv(65536)
