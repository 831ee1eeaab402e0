"""Runs in the worker process: draws the pass of a visitor. Loads its style sheet and fonts once per process."""
import os
import time
import json

style = None


def load(path):
    """Called in each new worker process before its first task."""
    global style
    begin = time.monotonic()
    import segno                      # the drawing library
    with open(path) as f:
        fonts = json.load(f)          # glyph outlines, some hundred kB
    style = {"segno": segno, "width": {g["c"]: sum(p[0] for p in g["outline"]) for g in fonts}}
    if os.environ.get("PAINTER_LOG"):     # evidence only
        with open(os.environ["PAINTER_LOG"], "a") as log:
            log.write("%d %.1f\n" % (os.getpid(), (time.monotonic() - begin) * 1000))


def paint(number, name):
    code = style["segno"].make("PASS-%s" % number, error="l", micro=False, version=1, mask=2)
    width = sum(style["width"].get(ord(c), 0) for c in name)
    rows = ["".join("#" if x else "." for x in row) for row in code.matrix]
    return {"pass": number, "name": name, "width": width, "code": rows}
