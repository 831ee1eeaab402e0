"""Lays the tree of manuals: current product lines with some hundred files each, and "legacy" with all the scans of the past."""
import os, random, sys

root = sys.argv[1]
rnd = random.Random(5)
words = "pump valve filter motor relay sensor gearbox coupling bearing seal panel inverter nozzle hose clamp flange rotor stator".split()


def lay(folder, files, per_dir):
    for n in range(files):
        if n % per_dir == 0:
            d = os.path.join(folder, "%s-%03d" % (rnd.choice(words), n // per_dir))
            os.makedirs(d, exist_ok=True)
        with open(os.path.join(d, "%s-%s-%05d.txt" % (rnd.choice(words), rnd.choice(words), n)), "w") as f:
            f.write("Manual %d\n" % n + "Read the safety notes first.\n" * rnd.randint(1, 20))


for line in ["pumps", "drives", "cabinets", "fittings", "sensors", "hoses", "spares", "tools"]:
    lay(os.path.join(root, line), rnd.randint(180, 260), 40)
lay(os.path.join(root, "cabinets", "legacy"), int(sys.argv[2]), 120)
lay(os.path.join(root, "notices"), 40, 10)
for n in range(40):
    with open(os.path.join(root, "notices", "notice-%02d.txt" % n), "w") as f:
        f.write("Notice %d\n" % n * 60)
