#!/usr/bin/env python3
"""start_db.py PORT CACHE: PostgreSQL on a fresh copy of CACHE/db.tar; SIGTERM is a fast shutdown."""
import glob, os, pwd, shutil, signal, subprocess, sys, tempfile

port, cache = sys.argv[1:3]
root = os.getuid() == 0
work = tempfile.mkdtemp(prefix="pgrun.", dir="/tmp")
subprocess.run(["tar", "-C", work, "-xf", cache + "/db.tar"], check=True)
if root:
    subprocess.run(["chown", "-R", "postgres:postgres", work], check=True)
binary = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1]
command = [binary, "-D", work + "/data", "-p", port, "-k", work, "-c", "listen_addresses=127.0.0.1",
           "-c", "fsync=off", "-c", "jit=off", "-c", "autovacuum=off", "-c", "shared_buffers=64MB"]
if root:
    command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] + command
p = subprocess.Popen(command, cwd="/tmp")
signal.signal(signal.SIGTERM, lambda *a: p.send_signal(signal.SIGINT))
signal.signal(signal.SIGINT, lambda *a: p.send_signal(signal.SIGINT))
code = p.wait()
shutil.rmtree(work, ignore_errors=True)
sys.exit(code)
