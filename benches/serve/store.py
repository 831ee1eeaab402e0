#!/usr/bin/env python3
"""Makes a store of many runs out of one, for a `slowpath serve` that has much to show.

store.py make RUN STORE SLOWPATH [RUNS]  RUN is the directory of any run that was judged. STORE/.slowpath/runs gets RUNS
                                         (1,000) releases of one scenario with eight endpoints each, a step in the
                                         middle and scatter as runs have it; STORE/investigations one investigation.
                                         The same RUN gives the same figures.
store.py follow STORE SECONDS            As if somebody measured meanwhile: every so often a run comes, and the one
                                         that came before it goes, so that the store stays as large as it is. Ends with
                                         the program that started it.
"""
import copy
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAME = "shop"
ENDPOINTS = 8
REPEATS = 5
LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
BEGIN = datetime.datetime(2026, 1, 2, 8, 0, 0, tzinfo=datetime.timezone.utc)
APART = datetime.timedelta(minutes=37)


def ulid(at, rng):
    ms, text = int(at.timestamp() * 1000), ""
    for _ in range(10):
        text, ms = LETTERS[ms & 31] + text, ms >> 5
    return text + "".join(rng.choice(LETTERS) for _ in range(16))


def figures(template, at, identity, release, level, rng):
    one = dict(template, id=identity, name=NAME, release=release, began=at.isoformat().replace("+00:00", "Z"))
    one["rows"] = []
    for endpoint in range(ENDPOINTS):
        for row in template["rows"]:
            row = copy.deepcopy(row)
            row["subject"] += str(endpoint)
            times = level if row["unit"] == "ns" else 1.0
            for value in row["repeats"] + ([row["whole"]] if row.get("whole") else []):
                for key in ("value", "low", "high"):
                    if value.get(key) is not None:
                        value[key] *= times
            if row["repeats"]:
                first = row["repeats"][0]
                row["repeats"] = [
                    dict(first, repeat=n, value=first["value"] * rng.gauss(1, 0.01)) for n in range(REPEATS)
                ]
            one["rows"].append(row)
    return one


def write(directory, run, one):
    """A run is there as a whole or not at all, as slowpath leaves it."""
    partial = directory.parent.parent / "coming"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    (partial / "figures.json").write_text(json.dumps(one, indent=2))
    report = json.loads((run / "report.json").read_text())
    report["run"].update(id=one["id"], name=NAME, release=one["release"], began=one["began"])
    (partial / "report.json").write_text(json.dumps(report, indent=2))
    shutil.copy(run / "report.html", partial)
    partial.rename(directory)


def make(run, store, slowpath, count):
    rng = random.Random(1)
    template = json.loads((run / "figures.json").read_text())
    runs = store / ".slowpath/runs"
    runs.mkdir(parents=True)
    for n in range(count):
        at = BEGIN + n * APART
        level = (1.3 if n > 0.6 * count else 1.0) * rng.gauss(1, 0.02)
        identity = ulid(at, rng)
        write(runs / identity, run, figures(template, at, identity, f"v{n // 100}.{n % 100}", level, rng))
    endpoint = template["rows"][0]["subject"] + "0"
    for words in (
        ["new", "The tail", "--id", "the-tail", "--metric", f"{endpoint}.p99", "--run", "last"],
        ["predict", "the-tail", f"{endpoint}.p99 in 1ms..2ms", "--because", "a lock", "--due", "v100.0"],
    ):
        subprocess.run([slowpath, "log", *words], cwd=store, check=True)


def follow(store, seconds):
    runs, parent = store / ".slowpath/runs", os.getppid()
    rng = random.Random()
    newest = runs / max(os.listdir(runs))
    template = json.loads((newest / "figures.json").read_text())
    before = None
    while True:
        time.sleep(seconds)
        gone = os.getppid() != parent
        if not gone:
            at = datetime.datetime.now(datetime.timezone.utc)
            identity = ulid(at, rng)
            now = dict(template, id=identity, release="v99.0", began=at.isoformat().replace("+00:00", "Z"))
            write(runs / identity, newest, now)
        if before:
            shutil.rmtree(runs / before)
        if gone:
            return
        before = identity


def main():
    match sys.argv[1:]:
        case ["make", run, store, slowpath, *count] if len(count) < 2:
            make(Path(run), Path(store), Path(slowpath).absolute(), int((count or [1000])[0]))
        case ["follow", store, seconds]:
            follow(Path(store), float(seconds))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
