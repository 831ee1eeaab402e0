# writes the pages of a workshop handbook (the same each time) and an icon: FOLDER PAGES WORDS
import os, random, struct, sys, zlib
out = sys.argv[1]; n=int(sys.argv[2]); words=int(sys.argv[3])
random.seed(7)
os.makedirs(out, exist_ok=True)
syl = ["ba","ko","ri","te","mu","la","so","ne","vi","da","pe","gu"]
vocab = ["".join(random.choice(syl) for _ in range(random.randint(2, 4))) for _ in range(4000)]
common = ["pump","valve","filter","pressure","service","engine","bolt","hose"]
for i in range(n):
    text = " ".join(random.choice(common) if random.random() < 0.15 else random.choice(vocab) for _ in range(words))
    with open(f"{out}/p{i}.html", "w") as f:
        f.write(f"<html><head><title>Part {i} {random.choice(common)}</title></head><body><h1>Part {i}</h1><p>{text}</p></body></html>")
with open(f"{out}/index.html", "w") as f:
    f.write("<html><head><title>Handbook</title></head><body><h1>Handbook</h1></body></html>")
raw = b"".join(b"\0" + b"\x40\x80\xc0" * 48 for _ in range(48))
def chunk(t, d): return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
open(f"{out}/icon.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 48, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
