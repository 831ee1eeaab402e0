#!/usr/bin/env python3
"""pgrun.py DIR COMMAND...: runs the server, ends it fast on SIGTERM, removes DIR."""
import shutil
import signal
import subprocess
import sys

server = subprocess.Popen(sys.argv[2:])
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, lambda *_: server.send_signal(signal.SIGINT))
code = server.wait()
shutil.rmtree(sys.argv[1], ignore_errors=True)
sys.exit(0 if code in (0, -signal.SIGINT) else 1)
