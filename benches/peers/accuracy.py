#!/usr/bin/env python3
"""Holds slowpath's percentiles against what a server with known latencies logged itself.

The target is `known.c` on CPU 0, the client runs on CPU 1. The server counts from the kernel's
receipt of a request to its write; a client also sees two wake-ups and the way there and back, which
is why an error of a twentieth of a millisecond is the machine's.
"""
import argparse, array, json, pathlib, shutil, signal, subprocess, tempfile

from run import HERE, ROOT, free_port, wait_for

SHARES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "max": 1.0}


def scenario(port, mode, options):
    load = f'users = {2 if mode == "modes" else 50}'
    if mode == "stall":
        load = 'rate = "1000/s"\narrivals = "uniform"'
    if mode == "tail at 1000/s":
        load = 'rate = "1000/s"'
    return f"""name = "known"
[target]
url = "http://127.0.0.1:{port}"
[load]
{load}
duration = "{options.seconds}s"
warmup = "{5 if mode == "stall" else 1}s"
[[endpoint]]
name = "root"
request = "GET /"
"""


def quantile(values, share):
    """The smallest value that so large a share of all is not above (type 1)."""
    rank = -(-share * len(values) // 1)
    return values[max(int(rank), 1) - 1]


def one(mode, options, scratch):
    port, log = free_port(), scratch / "log"
    kind = mode.split()[0]
    server = subprocess.Popen(["taskset", "-c", "0", scratch / "known", str(port), kind, log])
    wait_for(port)
    (scratch / "known.toml").write_text(scenario(port, mode, options))
    shutil.rmtree(scratch / "run", ignore_errors=True)
    subprocess.run(["taskset", "-c", "1", options.slowpath, "run", scratch / "known.toml", "--no-trace",
                    "--quiet", "--out", scratch / "run", "--json", scratch / "report.json"],
                   stdout=subprocess.DEVNULL)
    server.send_signal(signal.SIGTERM)
    server.wait()
    truth = array.array("Q")
    truth.frombytes(log.read_bytes())
    truth = sorted(truth)
    endpoint = json.loads((scratch / "report.json").read_text())["endpoints"][0]
    seen = endpoint["latency_ms"]
    print(f"\n{mode}: {endpoint['completed']} requests measured, {len(truth)} answered")
    for name, share in SHARES.items():
        if kind == "stall":
            # Even arrivals, a fifth of which wait uniformly up to a second.
            real = max(0.0, (share - 0.8) / 0.2 * 1000)
        else:
            real = quantile(truth, share) / 1e6
        got = seen[name]["value"]
        if got is None:
            print(f"  {name:>6}  truth {real:9.3f} ms   not stated: {seen[name]['reason']}")
        else:
            print(f"  {name:>6}  truth {real:9.3f} ms   slowpath {got:9.3f} ms   {got - real:+7.3f} ms"
                  + (f"  {got / real - 1:+.2%}" if real else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--slowpath", default=str(ROOT / "target/release/slowpath"))
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--modes", nargs="*", default=["tail", "tail at 1000/s", "modes", "stall"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="known-") as scratch:
        scratch = pathlib.Path(scratch)
        subprocess.run(["cc", "-O2", "-o", scratch / "known", HERE / "known.c"], check=True)
        for mode in options.modes:
            one(mode, options, scratch)


if __name__ == "__main__":
    main()
