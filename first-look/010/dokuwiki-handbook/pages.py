# pages.py DIR: a handbook of forty pages, and one long index page
import os, random, sys

random.seed(3)
words = "valve pump filter hose clamp gauge motor shaft bearing seal gasket flange nozzle drain panel relay fuse switch cable sensor".split()
d = os.path.join(sys.argv[1], "handbook")
os.makedirs(d, exist_ok=True)


def section(n):
    s = f"===== Step {n} =====\n\n" + " ".join(random.choice(words) for _ in range(60)) + ".\n\n"
    s += "^ Part ^ Size ^ Torque ^\n" + "".join(f"| {random.choice(words)} | {random.randrange(4, 60)} mm | {random.randrange(2, 90)} Nm |\n" for _ in range(6))
    return s + f"\n  * see [[handbook:p{random.randrange(40)}]]\n  * **never** without //gloves//\n\n"


for i in range(40):
    with open(f"{d}/p{i}.txt", "w") as f:
        f.write(f"====== Machine {i} ======\n\n" + "".join(section(n) for n in range(1, 5)))
with open(f"{d}/all.txt", "w") as f:
    f.write("====== All parts ======\n\n" + "".join(section(n) for n in range(1, 41)))
