"""Runs PostgreSQL in the foreground; SIGTERM is a fast shutdown."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys

directory = sys.argv[1]
data = os.path.join(directory, "data")
server = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]
user = pwd.getpwnam("postgres")


def become():
    os.setgid(user.pw_gid)
    os.setgroups([])
    os.setuid(user.pw_uid)


process = subprocess.Popen([server, "-D", data], preexec_fn=become, cwd=data)
signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGINT))
signal.signal(signal.SIGINT, lambda *_: process.send_signal(signal.SIGINT))
process.wait()
if directory.startswith("/tmp/holds-db-"):
    shutil.rmtree(directory, ignore_errors=True)
