#!/usr/bin/env python3
"""How often `slowpath ab` claims what is not there, and whether it finds what is.

    cargo build --release -p slowpath -p slowpath-lab
    python3 benches/ab/run.py --campaigns 20

First nginx against itself, campaign after campaign; then a lab server whose median is 10 % longer
in B, and one of whose requests in a hundred is slow in B only. See README.md.
"""

import argparse
import json
import math
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NGINX = """
worker_processes 1; daemon off; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off; client_body_temp_path {dir}; proxy_temp_path {dir};
    fastcgi_temp_path {dir}; uwsgi_temp_path {dir}; scgi_temp_path {dir};
    server {{ listen 127.0.0.1:{port}; location / {{ return 200 "{body}"; }} }}
}}
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {port}")


def ab(slowpath, folder, arguments):
    """Runs one comparison in a folder; what it said before measuring, and ab.json."""
    out = folder / "ab.json"
    out.unlink(missing_ok=True)
    command = [str(slowpath), "ab", *arguments, "--json", str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not out.exists():
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return done.stderr.strip(), json.loads(out.read_text())


def claims(found):
    tests = found["analysis"]["tests"]
    return [t for t in tests if t["verdict"] == "different"]


def disagreeing_most(pairs):
    """As many signs as chance makes in 10 % of comparisons; one always may."""
    at_most, most = 0.0, -1
    while most < pairs:
        at_most += math.comb(pairs, most + 1) / 2**pairs
        if at_most > 0.10:
            break
        most += 1
    return max(most, 1)


def bare_claims(found):
    """What would be claimed if nothing were known of A against itself."""
    def is_one(test):
        if test["q"] is None or test["q"] > 0.05:
            return False
        size = max(test["ratio"], 1 / test["ratio"]) - 1
        return size >= 0.05 and test["agreeing"] >= test["pairs"] - disagreeing_most(test["pairs"])
    return [t for t in found["analysis"]["tests"] if is_one(t)]


def told(tests):
    names = (f"{t['endpoint']}.{t['metric']} x {t['ratio']:.3f} (q {t['q']:.4f})" for t in tests)
    return ", ".join(names) or "-"


def same(args, slowpath):
    """nginx against itself."""
    program = shutil.which("nginx")
    if program is None:
        print("skipped: nginx is not installed (apt-get install nginx)")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        port = free_port()
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(dir=folder, port=port, body="x" * 512))
        server = subprocess.Popen([program, "-c", str(config), "-e", str(folder / "error.log")])
        try:
            wait_for(port)
            load = ["-d", args.duration, "--warmup", "300ms", "-c", "8", "-r", args.rate]
            claimed = bare = 0
            for campaign in range(1, args.campaigns + 1):
                place = folder / (f"c{campaign}" if args.forget else "all")
                place.mkdir(exist_ok=True)
                what = [f"http://127.0.0.1:{port}/", "--aa", "--seed", str(campaign), *load]
                if args.pairs:
                    what += ["--pairs", str(args.pairs)]
                said, found = ab(slowpath, place, what)
                own, without = claims(found), bare_claims(found)
                claimed += bool(own)
                bare += bool(without)
                print(f"campaign {campaign}: {found['analysis']['pairs']} pairs, "
                      f"claims {told(own)}; without floors {told(without)}")
                print("  " + said.replace("\n", "\n  "), flush=True)
            print(f"A/A: {claimed} of {args.campaigns} campaigns claimed a difference; without "
                  f"what A against itself has shown before it would be {bare}")
        finally:
            server.terminate()
            server.wait()


def true_difference(args, slowpath, title, metric, a, b, load):
    lab = ROOT / "target/release/lab"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "lab.toml").write_text(
            "[target]\nurl = \"http://127.0.0.1:{port}\"\n"
            f"command = {json.dumps([str(lab), *a, '--port', '{port}'])}\n"
            "[[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n")
        other = " ".join([str(lab), *b, "--port", "{port}"])
        # A against itself first: as many pairs as its noise asks for are planned then.
        said, _ = ab(slowpath, folder, ["lab.toml", "--aa", "--seed", "1", *load])
        said, found = ab(slowpath, folder, ["lab.toml", "--b", other, "--seed", "2", *load])
        of = {t["metric"]: t for t in found["analysis"]["tests"]}[metric]
        print(f"{title}: {of['verdict']} with {found['plan']['pairs']} planned pairs, {metric} "
              f"{of['a']} -> {of['b']}, ratio {of['ratio']:.3f} [{of['low']:.3f}, "
              f"{of['high']:.3f}], q {of['q']:.5f}, {of['agreeing']}/{of['pairs']} agree")
        print("  " + said.replace("\n", "\n  "), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--pairs", type=int, help="otherwise as the noise asks for")
    parser.add_argument("--duration", default="2s", help="of a block")
    parser.add_argument("--rate", default="2000", help="requests a second to nginx")
    parser.add_argument("--forget", action="store_true",
                        help="each campaign knows nothing of the ones before")
    parser.add_argument("--only", choices=["same", "different"])
    args = parser.parse_args()
    slowpath = ROOT / "target/release/slowpath"
    for binary in (slowpath, ROOT / "target/release/lab"):
        if not binary.exists():
            sys.exit(f"{binary} is missing: cargo build --release -p slowpath -p slowpath-lab")
    if args.only != "different":
        same(args, slowpath)
    if args.only != "same":
        load = ["-d", args.duration, "--warmup", "300ms", "-r", "500", "-c", "32"]
        true_difference(args, slowpath, "10 % longer median", "p50",
                        ["fixed-delay", "--delay-ms", "10"],
                        ["fixed-delay", "--delay-ms", "11"], load)
        slow = ["fixed-delay", "--variant", "tail", "--every", "100", "--delay-ms", "20"]
        true_difference(args, slowpath, "1 % slow mode", "slow-share",
                        [*slow, "--healthy"], slow, load)


if __name__ == "__main__":
    main()
