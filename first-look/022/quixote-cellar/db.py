"""PostgreSQL of the cellar, and what else works with it.

db.py template DIRECTORY SCHEMA
db.py serve PORT TEMPLATE PYTHON report-in-transaction|report-autocommit
"""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
USER = pwd.getpwnam("postgres")


def home():
    path = tempfile.mkdtemp(prefix="cellar-", dir="/tmp")
    os.chown(path, USER.pw_uid, USER.pw_gid)
    return path


def own(path):
    for root, directories, files in os.walk(path):
        for name in directories + files:
            os.chown(os.path.join(root, name), USER.pw_uid, USER.pw_gid)
    os.chown(path, USER.pw_uid, USER.pw_gid)


def run(arguments, **more):
    return subprocess.run(arguments, user=USER.pw_uid, group=USER.pw_gid, extra_groups=[], cwd="/tmp", check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **more)


def postgres(data, sockets, port, address="127.0.0.1"):
    return subprocess.Popen(
        [BIN + "/postgres", "-D", data, "-k", sockets, "-p", str(port), "-c", "listen_addresses=" + address,
         "-c", "max_connections=60", "-c", "shared_buffers=32MB", "-c", "autovacuum=off", "-c", "fsync=off",
         "-c", "log_min_messages=fatal", "-c", "log_min_error_statement=panic"],
        user=USER.pw_uid, group=USER.pw_gid, extra_groups=[], cwd="/tmp", stdin=subprocess.DEVNULL)


def template(directory, schema):
    path = home()
    try:
        data = path + "/data"
        run([BIN + "/initdb", "-D", data, "-U", "cellar", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        server = postgres(data, path, 5499, "")
        try:
            for _ in range(100):
                if subprocess.run([BIN + "/pg_isready", "-q", "-U", "cellar", "-d", "postgres", "-h", path, "-p", "5499"]).returncode == 0:
                    break
                time.sleep(0.1)
            with open(schema) as f:
                subprocess.run(["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", path, "-p", "5499", "-U", "cellar", "postgres"],
                               stdin=f, check=True)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
        shutil.copytree(data, directory, symlinks=True)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def serve(port, directory, python, mode):
    here = os.path.dirname(os.path.abspath(__file__))
    path = home()
    children = []

    def stop(*_):
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        data = path + "/data"
        shutil.copytree(directory, data, symlinks=True)
        own(data)
        os.chmod(data, 0o700)
        server = postgres(data, path, port)
        children.append((server, signal.SIGINT))
        while subprocess.run([BIN + "/pg_isready", "-q", "-U", "cellar", "-d", "postgres", "-h", path, "-p", str(port)]).returncode != 0:
            if server.poll() is not None:
                raise SystemExit("postgres ended")
            time.sleep(0.1)
        for job in (["report.py", mode], ["migrate.py"]):
            children.append((subprocess.Popen([python, here + "/" + job[0], str(port)] + job[1:],
                                              stdin=subprocess.DEVNULL), signal.SIGTERM))
        server.wait()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for child, number in reversed(children):
            if child.poll() is None:
                child.send_signal(number)
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.kill()
        shutil.rmtree(path, ignore_errors=True)


if sys.argv[1] == "template":
    template(sys.argv[2], sys.argv[3])
else:
    serve(int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5])
