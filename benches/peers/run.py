#!/usr/bin/env python3
"""Compares slowpath with other load generators and with the floor, in one interleaved run.

Every client meets the same target with the same load, pinned to CPU 1, the target to CPU 0. The
order of the clients turns around from round to round (ABBA), so that a machine that grows busier
or warmer does so for all. Ratios are medians of the ratios within a round. README.md says what
the columns mean. Needs Python 3.9 and a C compiler; clients that are not installed are skipped.
"""
import argparse, json, os, pathlib, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WARMUP_S = 1


class Peer:
    """A client: its name, and the command that makes a load, or None if it cannot."""

    def __init__(self, name, command, read):
        self.name, self.command, self.read = name, command, read


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.02)
    sys.exit(f"nothing listens on port {port}")


def measured(command, cpu, realtime, load_s):
    """Runs a command on one CPU: its output, its resource use, and the most memory in MB that it
    had resident in its first `load_s` seconds; what it does with its figures later is its affair."""
    pinned = ["taskset", "-c", str(cpu), *command]
    if realtime:
        pinned = ["chrt", "-f", "1", *pinned]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.monotonic()
        child = subprocess.Popen(pinned, stdout=out, stderr=err)
        resident = []
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if 0.3 < time.monotonic() - began < load_s:
                resident.append(resident_mb(child.pid))
            time.sleep(0.1)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text = out.read().decode(errors="replace")
        trouble = err.read().decode(errors="replace")
    return text, trouble, used, max(resident, default=0.0)


def resident_mb(pid):
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(l.split()[1]) / 1024 for l in lines if l.startswith("VmRSS:")), 0.0)


def of_floor(text, used, load):
    got = json.loads(text)
    late = got["late_us"]
    row = {"requests": got["requests"], "seconds": got["seconds"], "cpu_s": got["cpu_s"]}
    if load["rate"]:
        row |= {"p50": late["p50"], "p99": late["p99"], "max": late["max"], "cv": got["gap_cv"]}
    return row


def of_wrk(text, used, load):
    # "  611022 requests in 3.00s, 123.45MB read"
    line = next(line for line in text.splitlines() if " requests in " in line)
    words = line.split()
    return {"requests": int(words[0]), "seconds": float(words[3].rstrip("s,"))}


def of_ab(text, used, load):
    field = lambda name: next(l for l in text.splitlines() if l.startswith(name)).split(":")[1].split()
    return {"requests": int(field("Complete requests")[0]), "seconds": float(field("Time taken")[0])}


def of_oha(text, used, load):
    got = json.loads(text)
    done = sum(got["statusCodeDistribution"].values())
    return {"requests": done, "seconds": got["summary"]["total"]}


def of_h2load(text, used, load):
    # "finished in 3.00s, 113412.33 req/s, ..." and "requests: 340237 total, ..."
    lines = text.splitlines()
    seconds = next(l for l in lines if l.startswith("finished in")).split()[2].rstrip("s,")
    done = next(l for l in lines if l.startswith("requests:")).split("total")[0].split()[-1]
    return {"requests": int(done), "seconds": float(seconds)}


def peers(options, scratch):
    """All clients that can be had."""
    found = []
    rate = lambda load: str(load["rate"])

    def floor(port, load):
        words = [scratch / "floor", port, load["connections"], options.seconds]
        return words + ([rate(load)] if load["rate"] else [])

    def slowpath(port, load):
        model = f'rate = "{load["rate"]}/s"\narrivals = "uniform"\n' if load["rate"] else ""
        text = f"""name = "peers"
[target]
url = "http://127.0.0.1:{port}"
[load]
{model}connections = {load["connections"]}
duration = "{options.seconds}s"
warmup = "{WARMUP_S}s"
[[endpoint]]
name = "root"
request = "GET /"
"""
        (scratch / "scenario.toml").write_text(text)
        out = scratch / "run"
        shutil.rmtree(out, ignore_errors=True)
        return [options.slowpath, "run", scratch / "scenario.toml", "--no-trace", "--quiet",
                "--out", out, "--json", scratch / "report.json"]

    def of_slowpath(text, used, load):
        report = json.loads((scratch / "report.json").read_text())
        own, endpoint = report["run"]["instrument"], report["endpoints"][0]
        failed = sum(error["count"] for error in endpoint["errors"])
        if failed:
            sys.exit(f"slowpath: {failed} requests failed: {endpoint['errors']}")
        done = endpoint["completed"]
        row = {"requests": done, "seconds": options.seconds,
               "cpu_s": own["cpu_s_per_million"] * done / 1e6,
               "loop": own["loop_cpu_s_per_million"]}
        if load["rate"]:
            us = lambda ms: ms * 1e3
            row |= {"p50": us(own["send_lag_p50_ms"]), "p99": us(own["send_lag_p99_ms"]),
                    "max": us(own["send_lag_max_ms"]), "cv": own["send_gap_cv"]}
        return row

    def wrk(port, load):
        if load["rate"]:
            return None
        return ["wrk", "-t1", f"-c{load['connections']}", f"-d{options.seconds}s", url(port)]

    def ab(port, load):
        if load["rate"]:
            return None
        return ["ab", "-q", "-k", "-c", load["connections"], "-t", options.seconds, "-n", 100_000_000,
                url(port) + "/"]

    def oha(port, load):
        words = ["oha", "--no-tui", "--output-format", "json", "-z", f"{options.seconds}s",
                 "-c", load["connections"], url(port)]
        return words + (["-q", rate(load), "--latency-correction"] if load["rate"] else [])

    def h2load(port, load):
        words = ["h2load", "--h1", "-t1", "-c", load["connections"], "-D", options.seconds]
        if load["rate"]:
            words += ["--rps", load["rate"] / load["connections"]]
        return words + [url(port) + "/"]

    url = lambda port: f"http://127.0.0.1:{port}"
    found.append(Peer("floor", floor, of_floor))
    found.append(Peer("slowpath", slowpath, of_slowpath))
    for name, command, read in [("wrk", wrk, of_wrk), ("ab", ab, of_ab), ("oha", oha, of_oha),
                                ("h2load", h2load, of_h2load)]:
        if options.only and name not in options.only:
            continue
        if shutil.which(name):
            found.append(Peer(name, command, read))
        else:
            print(f"skipped: {name} is not installed")
    return found


def start_nginx(scratch, port):
    """nginx with one worker and no log, in the foreground."""
    (scratch / "nginx.conf").write_text(f"""
daemon off; worker_processes 1; pid {scratch}/nginx.pid; error_log {scratch}/nginx.log crit;
events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000;
  client_body_temp_path {scratch}; proxy_temp_path {scratch}; fastcgi_temp_path {scratch};
  uwsgi_temp_path {scratch}; scgi_temp_path {scratch};
  server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ default_type text/plain; return 200 "{'x' * 100}"; }} }} }}
""")
    return ["nginx", "-c", str(scratch / "nginx.conf")]


def one(peer, port, load, options):
    command = peer.command(port, load)
    if command is None:
        return None
    load_s = options.seconds + (WARMUP_S if peer.name == "slowpath" else 0)
    text, trouble, used, resident = measured(
        [str(word) for word in command], options.client_cpu, options.realtime, load_s)
    try:
        row = peer.read(text, used, load)
    except Exception as error:
        sys.exit(f"{peer.name}: {error!r}\n{text}\n{trouble}")
    # Those that do not tell what they used while sending are charged with all of it.
    row.setdefault("cpu_s", used.ru_utime + used.ru_stime)
    row["per_million"] = row["cpu_s"] / row["requests"] * 1e6
    row["rss"] = resident
    return row


def compare(name, port, load, clients, options):
    rounds = []
    for number in range(options.rounds):
        order = clients if number % 2 == 0 else clients[::-1]
        rounds.append({peer.name: one(peer, port, load, options) for peer in order})
    what = f"{load['rate']}/s open, even" if load["rate"] else "closed"
    print(f"\n{name}, {load['connections']} connections, {what}; "
          f"{options.rounds} rounds of {options.seconds} s, medians")
    head = ["client", "req/s", "CPU-s/M", "x floor", "x wrk", "sending", "RSS MB"]
    if load["rate"]:
        head += ["late p50", "p99", "max us", "gap CV"]
    print("  ".join(f"{word:>8}" for word in head))
    table = {}
    for peer in clients:
        rows = [r[peer.name] for r in rounds if r[peer.name]]
        if not rows:
            continue
        middle = lambda key: statistics.median(row[key] for row in rows) if key in rows[0] else None

        def ratio(other):
            pairs = [r[peer.name]["per_million"] / r[other]["per_million"]
                     for r in rounds if r.get(other) and r[peer.name]]
            return statistics.median(pairs) if pairs else None

        values = [statistics.median(row["requests"] / row["seconds"] for row in rows),
                  middle("per_million"), ratio("floor"), ratio("wrk"), middle("loop"), middle("rss")]
        forms = ["{:.0f}", "{:.2f}", "{:.2f}", "{:.2f}", "{:.2f}", "{:.1f}"]
        if load["rate"]:
            values += [middle("p50"), middle("p99"), middle("max"), middle("cv")]
            forms += ["{:.1f}", "{:.1f}", "{:.0f}", "{:.2f}"]
        cells = ["-" if value is None else form.format(value) for form, value in zip(forms, values)]
        print("  ".join(f"{cell:>8}" for cell in [peer.name, *cells]), flush=True)
        table[peer.name] = {"rounds": rows, "x_floor": ratio("floor"), "x_wrk": ratio("wrk")}
    return {"target": name, "load": load, "clients": table}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--slowpath", default=str(ROOT / "target/release/slowpath"))
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="peers beside slowpath and the floor: wrk ab oha h2load")
    parser.add_argument("--targets", nargs="*", default=["fast", "nginx"])
    parser.add_argument("--connections", nargs="*", type=int, default=[1, 50, 1000])
    parser.add_argument("--rates", nargs="*", type=int, default=[5000, 20000])
    parser.add_argument("--open-connections", type=int, default=50)
    parser.add_argument("--server-cpu", type=int, default=0)
    parser.add_argument("--client-cpu", type=int, default=1)
    parser.add_argument("--realtime", action="store_true",
                        help="run target and clients as SCHED_FIFO: on a machine with other work")
    parser.add_argument("--json", help="where to put every figure")
    options = parser.parse_args()
    if not os.access(options.slowpath, os.X_OK):
        sys.exit(f"{options.slowpath} is not there: cargo build --release -p slowpath")
    results = []
    with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
        scratch = pathlib.Path(scratch)
        for name in ("server", "floor"):
            compiler = os.environ.get("CC", "cc")
            subprocess.run([compiler, "-O2", "-o", scratch / name, HERE / f"{name}.c", "-lm"], check=True)
        clients = peers(options, scratch)
        for target in options.targets:
            port = free_port()
            if target == "nginx" and not shutil.which("nginx"):
                print("skipped: nginx is not installed")
                continue
            command = start_nginx(scratch, port) if target == "nginx" else [scratch / "server", str(port)]
            pinned = ["taskset", "-c", str(options.server_cpu), *command]
            server = subprocess.Popen((["chrt", "-f", "1"] if options.realtime else []) + pinned)
            try:
                wait_for(port)
                loads = [{"connections": c, "rate": 0} for c in options.connections]
                loads += [{"connections": options.open_connections, "rate": r} for r in options.rates]
                for load in loads:
                    results.append(compare(target, port, load, clients, options))
            finally:
                server.send_signal(signal.SIGTERM)
                server.wait()
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
