"""data.py FILE: makes the data base's dump: 300 trails, 420 visitors that are online, 420,000 cached map tiles."""
import os, shutil, socket, subprocess, sys, tempfile, time

target = os.path.abspath(sys.argv[1])
work = tempfile.mkdtemp(prefix="trails-redis-")
sock = work + "/s"
server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", sock, "--save", "", "--dir", work],
                          stdout=subprocess.DEVNULL)
try:
    for _ in range(100):
        if os.path.exists(sock):
            break
        time.sleep(0.1)
    pipe = subprocess.Popen(["redis-cli", "-s", sock, "--pipe"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def send(*words):
        out = [b"*%d\r\n" % len(words)]
        for w in words:
            w = str(w).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(w), w))
        pipe.stdin.write(b"".join(out))

    for n in range(1, 301):
        send("HSET", "trail:%d" % n, "name", "Trail %d" % n, "km", n * 7 % 23 + 2, "climb", n * 37 % 900,
             "grade", "ABC"[n % 3])
        for k in range(6):
            send("RPUSH", "reports:%d" % n, "Report %d: path dry, gate %d open, snow above %d m" % (k, n % 9, 1200 + n))
    for n in range(420):
        send("SET", "online:%08x" % (n * 2654435761 % 2**32), 1)
        send("SADD", "online", "%08x" % (n * 2654435761 % 2**32))
    for n in range(int(os.environ.get("TILES", "420000"))):
        send("SET", "tile:%d:%d:%d" % (n % 9 + 8, n % 883, n // 883), n)
    pipe.stdin.close()
    pipe.wait()
    subprocess.run(["redis-cli", "-s", sock, "SAVE"], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(work + "/dump.rdb", target + ".new")
    os.replace(target + ".new", target)
finally:
    server.terminate()
    server.wait()
    shutil.rmtree(work, ignore_errors=True)
