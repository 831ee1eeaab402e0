"""Runs PostgreSQL on a copy of the prepared database as the user postgres; SIGTERM ends it fast and
removes the copy."""
import glob, os, shutil, signal, subprocess, sys, tempfile

port, template = sys.argv[1], sys.argv[2]
work = tempfile.mkdtemp(prefix="deliveries-pg-", dir="/tmp")
child = None


def stop(*_):
    if child is None:
        raise SystemExit(0)
    child.send_signal(signal.SIGINT)


for s in (signal.SIGTERM, signal.SIGINT):
    signal.signal(s, stop)
try:
    subprocess.run(["cp", "-a", template, work + "/data"], check=True)
    shutil.chown(work, "postgres")
    postgres = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda p: float(p.split("/")[4]))[-1]
    child = subprocess.Popen(
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig", "INT",
         postgres, "-D", work + "/data", "-p", port, "-c", "listen_addresses=127.0.0.1",
         "-c", "unix_socket_directories=", "-c", "shared_buffers=256MB", "-c", "jit=off",
         "-c", "max_parallel_workers_per_gather=0", "-c", "random_page_cost=1.1", "-c", "autovacuum=off",
         "-c", "logging_collector=off", "-c", "log_min_messages=warning"]
        + sum((["-c", s] for s in sys.argv[3:]), []), cwd=work)
    child.wait()
finally:
    shutil.rmtree(work, ignore_errors=True)
