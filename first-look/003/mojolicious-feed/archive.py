# packs the log segments of the day: a segment is ready every 0.8 s
import os, sys, time, zlib
data = os.urandom(1 << 18)
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
time.sleep(2.5)
while True:
    t = time.time()
    end = t - t % 0.8 + 0.8
    time.sleep(end - t)
    while time.time() < end + 0.35:
        zlib.compress(data, 6)
