"""Lays out what the site is built of, and checks the links of what was built.

    stage.py FOLDER          pages of docs/, a page for each cause, and the generator's configuration
    stage.py --check FOLDER  every link and anchor within the built site leads somewhere
"""

import html.parser
import pathlib
import re
import shutil
import sys
import tomllib
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
CAUSES = ROOT / "crates/diagnose/docs"
# Files beside the pages are shown where the repository is.
REPOSITORY = tomllib.loads((ROOT / "docs/zensical.toml").read_text())["project"]["repo_url"] + "/blob/main"
# What the pages of causes hold for tests, as `slowpath causes` leaves it out.
OF_TESTS = re.compile(r"^```(case|snapshot)\n.*?^```\n", re.MULTILINE | re.DOTALL)

# The order of the index; a cause of no group comes last.
GROUPS = {
    "The CPU": "cpu-saturation cpu-quota-throttling cpu-steal noisy-neighbour run-queue-delay wake-placement "
    "timer-granularity",
    "Locks, pools and queues": "lock-held-over-io lock-contention interpreter-lock stop-the-world-pause event-loop-blocking "
    "queueing worker-pool-exhaustion workers-held-idle connection-pool-exhaustion concurrency-limit rate-limit",
    "Waiting by design": "fixed-delay poll-tick batch-window retry-backoff upstream-timeout",
    "Other servers": "slow-dependency sequential-fanout connection-per-call dns-lookup blocking-telemetry",
    "Caches and inputs": "cache-expiry cache-stampede cold-start hot-input slow-scan accumulated-state request-size "
    "response-size",
    "Connections and packets": "delayed-ack packet-loss accept-queue-overflow accept-starvation connection-limit "
    "connection-churn keepalive-close-race fd-exhaustion port-exhaustion slow-client",
    "Disk and memory": "fsync-stall log-flush cold-page-cache memory-pressure",
    "Failures": "worker-restart lost-work",
    "The measurement itself": "client-saturation clock-jump observer-effect coordinated-omission workload-key-collision",
}


def first_sentence(page):
    """The first sentence below "What it names"."""
    paragraph = page.split("## What it names", 1)[1].strip().split("\n\n", 1)[0]
    return re.split(r"(?<=\.) ", " ".join(paragraph.split()), maxsplit=1)[0]


def cause_page(page, own, names):
    """A cause's page without its tests, and with links to the causes that it names."""
    page = re.sub(r"\n{3,}", "\n\n", OF_TESTS.sub("", page))

    def link(found):
        before, name, after = found.groups()
        is_other = name in names and name != own
        return f"[{before}{name}{after}]({name}.md)" if is_other else found.group(0)

    page = re.sub(r"(`)([a-z-]+)(`)", link, page)
    return re.sub(r"(?<=\()()([a-z]+(?:-[a-z]+)+)()(?=[),;])", link, page)


def causes(folder):
    """Writes the pages of causes with their index, and returns their names."""
    pages = {path.stem.replace("_", "-"): path.read_text() for path in sorted(CAUSES.glob("*.md"))}
    folder.mkdir(parents=True)
    for name, page in pages.items():
        (folder / f"{name}.md").write_text(cause_page(page, name, pages))
    groups = {title: [name for name in names.split() if name in pages] for title, names in GROUPS.items()}
    grouped = {name for names in groups.values() for name in names}
    groups["Others"] = [name for name in pages if name not in grouped]
    index = [
        "# Causes",
        "",
        f"slowpath knows {len(pages)} causes. Each has a page: what it names, why it makes a tail, what it looks like, what it is "
        "mistaken for, what to do, and how to refute it. `slowpath causes` lists them in the terminal, and `slowpath causes NAME` "
        "prints a page.",
    ]
    for title, names in groups.items():
        if names:
            index += ["", f"## {title}", "", "| cause | what it names |", "|---|---|"]
            index += [f"| [{name}]({name}.md) | {first_sentence(pages[name])} |" for name in names]
    (folder / "index.md").write_text("\n".join(index) + "\n")
    return sorted(pages)


def site_link(found):
    """Where a link of a page of docs/ leads on the site."""
    target = found.group(1)
    cause = re.fullmatch(r"\.\./crates/diagnose/docs/(?:(\w+)\.md)?(#.*)?", target)
    if cause:
        name = (cause.group(1) or "index").replace("_", "-")
        return f"](causes/{name}.md{cause.group(2) or ''})"
    if target.startswith("../schema/"):
        return f"]({target[3:]})"
    if target.startswith("../"):
        return f"]({REPOSITORY}/{target[3:]})"
    return found.group(0)


def stage(folder):
    """Lays out all pages below `folder`."""
    pages = folder / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    names = causes(pages / "causes")
    for path in sorted((ROOT / "docs").iterdir()):
        if path.suffix == ".md":
            (pages / path.name).write_text(re.sub(r"\]\(([^)\s]+)\)", site_link, path.read_text()))
        elif path.suffix in (".png", ".css", ".svg"):
            shutil.copy(path, pages)
    shutil.copytree(ROOT / "schema", pages / "schema")
    config = (ROOT / "docs/zensical.toml").read_text()
    nav = ", ".join(['"causes/index.md"'] + [f'{{ "{name}" = "causes/{name}.md" }}' for name in names])
    (folder / "zensical.toml").write_text(config.replace('"CAUSES"', nav))


class Page(html.parser.HTMLParser):
    """The links of a page, and what they may lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[key] for key in ("id", "name") if attrs.get(key)}
        self.links |= {attrs[key] for key in ("href", "src") if attrs.get(key)}


def check(folder):
    """Ends with an error that names every link within the site that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in folder.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            # The page of errors is served at any path.
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if target.is_dir():
                target = target / "index.html"
            has_anchor = not anchor or target not in pages or anchor in pages[target].anchors
            if not target.exists() or not has_anchor:
                broken.append(f"{path.relative_to(folder.resolve())} leads to {link}, which is not there")
    if broken:
        sys.exit("\n".join(broken))
    print(f"{len(pages)} pages in {folder}, and every link within them leads somewhere")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(pathlib.Path(sys.argv[2]))
    else:
        stage(pathlib.Path(sys.argv[1]))
