"""The print room's converter: takes jobs (JSON) from the hot folder in/, draws them, moves the drawing to out/."""
import json
import os
import signal
import socket
import sys

import segno
from inotify_simple import INotify, flags

port, folder = int(sys.argv[1]), sys.argv[2]
src, work, out = (os.path.join(folder, d) for d in ("in", "work", "out"))
notify = INotify()
notify.add_watch(src, flags.CLOSE_WRITE | flags.MOVED_TO)
status = socket.create_server(("127.0.0.1", port))      # the print room's monitor looks whether the port is open
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))


def convert(name):
    path = os.path.join(src, name)
    with open(path) as f:
        job = json.load(f)
    made = os.path.join(work, name[:-5] + ".svg")
    segno.make(job["text"], error="m", mask=4, micro=False, boost_error=False).save(made, scale=4, title=job["title"])
    os.rename(made, os.path.join(out, name[:-5] + ".svg"))
    os.unlink(path)


while True:
    for event in notify.read():
        if event.name.endswith(".json"):
            try:
                convert(event.name)
            except OSError as err:
                print("skipped", event.name, err, file=sys.stderr, flush=True)
