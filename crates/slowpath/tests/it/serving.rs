//! `slowpath serve`: its pages over HTTP, and in Chromium where there is one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::comparing::{id, store};
use crate::replays::{copied, fixture};
use crate::support::{slowpath, stderr, stdout};

mod browser;

/// Text that would run if it were markup.
const HOSTILE: &str = "</style><script>alert('x')</script>\"><img src=x onerror=alert(1)>";

/// A `slowpath serve` that ends with the test.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_slowpath"))
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "serve.json"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap();
        let address = address.strip_suffix('/').unwrap().to_owned();
        let told = std::fs::read_to_string(folder.join("serve.json")).unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["url"], format!("http://{address}/"));
        Self { child, address }
    }

    /// An answer: its status, its head and its body.
    fn ask(&self, head: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        let (status, head, body) = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost"));
        assert!(head.contains("default-src 'none'"), "{path}: {head}");
        (status, body)
    }

    /// A page that is there.
    fn page(&self, path: &str) -> String {
        let (status, body) = self.get(path);
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    fn json(&self, path: &str) -> Value {
        let head = format!("GET {path} HTTP/1.1\r\nHost: [::1]:1\r\nAccept: application/json");
        let (status, head, body) = self.ask(&head);
        assert!(head.contains("application/json"), "{path}: {head}");
        let value: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// Asks it to end, and gives its exit code.
    fn end(mut self) -> Option<i32> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn holds(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part:?} in\n{page}");
    }
}

/// Fourteen releases with a step at the ninth, and an investigation with a prediction that failed.
fn story(folder: &Path) {
    for at in 0..14_u8 {
        let level = if at < 8 { 10.0 } else { 13.0 };
        let ms = level * (1.0 + 0.01 * f64::from(at % 3));
        let release = format!("v{}", at + 1);
        store(
            folder,
            &id(at),
            Some(&release),
            "x",
            &[ms, ms * 1.01, ms * 0.99],
        );
    }
    let log = |args: &[&str]| {
        let output = slowpath(folder, &[&["log"], args].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let new = [
        "new",
        "The tail of search",
        "--metric",
        "search.p99",
        "--run",
        "last",
    ];
    log(&[&new[..], &["--id", "search-tail"]].concat());
    let predict = [
        "predict",
        "search",
        "search.p99 in 5ms..6ms",
        "--because",
        "It sleeps.",
    ];
    log(&[&predict[..], &["--cause", "fixed-delay", "--due", "v15"]].concat());
}

#[test]
fn a_project_without_anything_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path());
    holds(
        &serving.page("/"),
        &["No run is stored", "slowpath run http"],
    );
    holds(&serving.page("/history"), &["No run is stored yet"]);
    holds(&serving.page("/releases"), &["No release is stored yet"]);
    holds(&serving.page("/compare"), &["No run is stored yet"]);
    let log = serving.page("/investigations");
    holds(&log, &["keeps no investigation log", "slowpath log new"]);
    assert_eq!(serving.get("/runs/last").0, 404);
    assert_eq!(serving.end(), Some(130));
}

/// What a command writes with `--json`.
fn said(folder: &Path, args: &[&str]) -> Value {
    let output = slowpath(folder, &[args, &["--json", "said.json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.join("said.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn histories_and_comparisons_are_those_of_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    story(folder);
    let serving = Serving::start(folder);
    let history = serving.page("/history/shop");
    holds(
        &history,
        &[
            "worse by +30 % since v9",
            "▲ +30 % v9",
            "<svg",
            "/runs/01JD",
        ],
    );
    let told = said(folder, &["history", "shop"]);
    assert_eq!(serving.json("/history/shop"), told);
    assert_eq!(serving.get("/history/shop?endpoint=cart").0, 404);

    let compared = serving.page("/compare?a=v8&b=v9");
    holds(
        &compared,
        &[
            "release v8: run 01JD",
            "search.p99",
            "<option value=\"v14\"",
        ],
    );
    let told = said(folder, &["compare", "v8", "v9"]);
    assert_eq!(serving.json("/compare?a=v8&b=v9"), told);
    holds(
        &serving.page("/compare?a=v8&b=v99"),
        &["no run &quot;v99&quot; is stored here"],
    );
}

#[test]
fn runs_and_threads_are_shown_as_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    story(folder);
    let serving = Serving::start(folder);
    let list = serving.page("/");
    holds(
        &list,
        &[
            "14 runs",
            "Under investigation",
            "search-tail",
            &id(13),
            "13.1 ms",
        ],
    );
    // What a comparison begins with are the newest run and the one before it.
    assert_eq!(list.matches(" checked").count(), 2);
    assert!(list.find("v14").unwrap() < list.find("v13<").unwrap());
    let only = serving.page("/?name=shop&release=v3");
    assert!(only.contains(&id(2)) && !only.contains(&id(3)));

    holds(
        &serving.page("/releases"),
        &["Releases of shop", "v14", "compare with v13"],
    );
    let thread = serving.page("/investigations/search-tail");
    let parts = [
        "search.p99 over releases",
        "search.p99 in 5ms..6ms",
        "n: 3 repeats of one run",
    ];
    holds(&thread, &parts);
    holds(&thread, &["It sleeps.", "cause: fixed-delay", "due by v15"]);
    let told = serving.json("/investigations/search-tail");
    assert_eq!(told["investigations"][0]["id"], "search-tail");
    holds(
        &serving.page("/runs/last"),
        &["Its record is not stored here", "13.1 ms"],
    );

    // What is measured while it is open is there.
    store(folder, &id(14), Some("v15"), "x", &[9.0, 9.1]);
    holds(&serving.page("/"), &["15 runs", "overdue"]);
    holds(&serving.page("/history/shop"), &["15 releases"]);
}

#[test]
fn what_is_not_there_or_meant_twice_is_told_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    store(folder, &id(0), Some("v1"), "x", &[10.0]);
    store(folder, &id(1), Some("v2"), "x", &[10.0]);
    let serving = Serving::start(folder);
    let cases = [
        ("/runs/01JE", 404, "no run &quot;01JE&quot; is stored here"),
        ("/runs/01jd", 300, "is the beginning of 2 runs"),
        ("/runs/..%2F..%2Fetc%2Fpasswd", 404, "is stored here"),
        ("/history/other", 404, "one of shop"),
        ("/investigations/x", 404, "slowpath log new"),
        (
            "/investigations/x/files/..%2F..%2FCargo.toml",
            404,
            "names a file",
        ),
        ("/nowhere", 404, "there is no page /nowhere"),
        ("/?page=999", 200, "2 runs"),
        ("/?page=-1&name=none", 200, "No such run is stored"),
    ];
    for (path, status, part) in cases {
        let (code, page) = serving.get(path);
        assert_eq!(code, status, "{path}");
        holds(&page, &[part, "</html>"]);
    }
    let (status, head, _) = serving.ask("HEAD / HTTP/1.1\r\nHost: 127.0.0.1");
    assert_eq!(status, 200, "{head}");
}

#[test]
fn only_this_machine_may_ask_and_nothing_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path());
    for (head, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.example", 403),
        ("GET / HTTP/1.1\r\nHost: evil.example:7878", 403),
        ("GET / HTTP/1.0", 403),
        (
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0",
            405,
        ),
        ("DELETE /runs/last HTTP/1.1\r\nHost: localhost", 405),
        ("GET /slowpath.css HTTP/1.1\r\nHost: localhost", 200),
        ("GET /slowpath.js HTTP/1.1\r\nHost: localhost", 200),
        ("GET /icon.svg HTTP/1.1\r\nHost: localhost", 200),
    ] {
        let (code, answer, _) = serving.ask(head);
        assert_eq!(code, status, "{head}");
        holds(
            &answer,
            &["content-security-policy", "nosniff", "no-referrer"],
        );
    }
}

#[test]
fn a_port_that_is_taken_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = slowpath(folder.path(), &["serve", "--listen", &address]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let told = stderr(&output);
    holds(
        &told,
        &["cannot listen on 127.0.0.1:", "--listen 127.0.0.1:0"],
    );
    let output = slowpath(folder.path(), &["serve", "--listen", "here"]);
    assert_eq!(output.status.code(), Some(2));
    holds(&stderr(&output), &["an address, a port or both"]);
}

/// A run of which everything that has a name is hostile.
fn hostile(folder: &Path, run: &str) {
    let dir = folder.join(".slowpath/runs").join(run);
    std::fs::create_dir_all(&dir).unwrap();
    let figures = json!({
        "schema": "slowpath.figures/1", "id": run, "name": HOSTILE, "release": HOSTILE,
        "began": format!("2026-01-01T00:00:05Z{HOSTILE}"),
        "origin": { "imported": { "format": HOSTILE, "files": [HOSTILE] } },
        "conditions": { "host": { HOSTILE: HOSTILE }, "config": {}, "harness": {}, "versions": {} },
        "void": [],
        "rows": [{
            "subject": HOSTILE, "metric": "p99", "unit": "ns", "better": "lower",
            "repeats": [{ "value": 1e6 }, { "value": 2e6 }], "refused": HOSTILE
        }]
    });
    std::fs::write(dir.join("figures.json"), figures.to_string()).unwrap();
}

#[test]
fn whatever_comes_from_outside_is_text() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    hostile(folder, &id(0));
    let own = folder.join("investigations/x");
    std::fs::create_dir_all(&own).unwrap();
    let opened = format!(
        "kind = \"opened\"\nat = 2026-01-31T14:05:00Z\nby = '''{HOSTILE}'''\ntitle = '''{HOSTILE}'''\n\
         text = '''{HOSTILE}'''\nscenario = '''{HOSTILE}'''\nmetric = \"search.p99\"\n\
         figures = [\"it.svg\", \"it.html\"]\nlinks = [\"https://example.org/?{}\"]\n",
        "<script>alert(1)</script>"
    );
    std::fs::write(own.join(format!("{}-opened.toml", id(5))), opened).unwrap();
    std::fs::write(own.join("it.svg"), "<svg><script>alert(1)</script></svg>").unwrap();
    std::fs::write(own.join("it.html"), "<script>alert(1)</script>").unwrap();
    let serving = Serving::start(folder);
    let bytes: Vec<String> = HOSTILE.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let name = bytes.concat();
    let run = format!("/runs/{}", id(0));
    let history = format!("/history/{name}");
    let asked = format!("/history/{name}?endpoint={name}");
    let unknown = format!("/runs/{name}?a={name}");
    let compare = format!("/compare?a={name}&b={name}&name={name}");
    let pages = [
        "/",
        "/history",
        "/releases",
        "/compare",
        "/investigations",
        "/investigations/x",
    ];
    let more = [run.as_str(), &history, &asked, &unknown, &compare];
    for path in pages.iter().chain(&more) {
        let (_, page) = serving.get(path);
        assert!(
            !page.contains("<script>") && !page.contains("<img src=x"),
            "{path}: {page}"
        );
        assert_eq!(
            page.matches("<script").count(),
            1,
            "{path}: the site's own alone"
        );
        assert!(
            page.contains("&lt;script&gt;alert"),
            "{path} does not say it: {page}"
        );
    }
    // Files beside an entry are viewed, and run nothing.
    let get = |name: &str| {
        serving.ask(&format!(
            "GET /investigations/x/files/{name} HTTP/1.1\r\nHost: localhost"
        ))
    };
    let (status, head, _) = get("it.svg");
    assert_eq!(status, 200);
    holds(&head, &["image/svg+xml", "sandbox", "nosniff"]);
    assert!(!head.contains("script-src"), "{head}");
    holds(&get("it.html").1, &["text/plain"]);
    assert_eq!(get("other.svg").0, 404);
}

#[test]
fn what_is_broken_is_shown_beside_what_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    story(folder);
    let runs = folder.join(".slowpath/runs");
    std::fs::write(runs.join(id(3)).join("figures.json"), "{").unwrap();
    std::fs::create_dir_all(runs.join(id(20))).unwrap();
    std::fs::write(runs.join(id(20)).join("manifest.json"), "{\"format\": 99}").unwrap();
    std::fs::create_dir_all(runs.join(id(21))).unwrap();
    std::fs::write(runs.join(id(21)).join("sweep.json"), "[]").unwrap();
    let own = folder.join("investigations/search-tail");
    let broken = "kind = \"observation\"\nat = 2026-02-01T00:00:00Z\ntxt = \"x\"\n";
    std::fs::write(own.join(format!("{}-observation.toml", id(6))), broken).unwrap();
    std::fs::create_dir_all(folder.join("investigations/gone")).unwrap();
    let gone = folder.join(format!("investigations/gone/{}-opened.toml", id(7)));
    std::fs::write(gone, "kind = ").unwrap();
    let serving = Serving::start(folder);
    let list = serving.page("/");
    holds(
        &list,
        &["16 runs", "broken", "delete that file", "newer", "v14"],
    );
    let (status, page) = serving.get(&format!("/runs/{}", id(3)));
    assert_eq!(status, 422);
    holds(&page, &["delete that file", "figures.json"]);
    holds(&serving.page("/history/shop"), &["13 releases"]);
    let log = serving.page("/investigations");
    holds(
        &log,
        &[
            "Broken: ",
            "unknown key",
            "did you mean text?",
            "The tail of search",
        ],
    );
    let thread = serving.page("/investigations/search-tail");
    holds(&thread, &["Broken: ", ":3", "It sleeps."]);
    let (status, page) = serving.get("/investigations/gone");
    assert_eq!(status, 422);
    holds(&page, &["gone cannot be read"]);
}

#[test]
fn a_measured_run_is_judged_once_and_its_report_is_a_page_of_the_site() {
    let folder = tempfile::tempdir().unwrap();
    let run = id(0);
    let dir = folder.path().join(".slowpath/runs").join(&run);
    copied(&fixture("spans"), &dir);
    let serving = Serving::start(folder.path());
    holds(&serving.page("/"), &["not judged yet"]);
    let page = serving.page(&format!("/runs/{run}"));
    holds(
        &page,
        &[
            "id=\"answer\"",
            "fixed-delay",
            "aria-label=\"Pages\"",
            "/slowpath.js",
        ],
    );
    assert!(!page.contains("<script>"), "nothing inline runs");
    assert_eq!(page.matches("<main").count(), 1);
    assert!(dir.join("report.html").exists());
    holds(&serving.page("/"), &["fixed-delay"]);
    let told = serving.json(&format!("/runs/{run}"));
    assert_eq!(told["findings"][0]["cause"], "fixed-delay");
    // One that is being measured is left alone.
    let other = folder.path().join(".slowpath/runs").join(id(1));
    copied(&fixture("spans"), &other);
    std::fs::write(other.join("samples.spool"), "").unwrap();
    let (status, page) = serving.get(&format!("/runs/{}", id(1)));
    assert_eq!(status, 422);
    holds(&page, &["is being measured", "slowpath report"]);
    assert!(!other.join("report.html").exists());
}

#[test]
fn a_thousand_runs_are_read_once_and_listed_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..1_000_u16 {
        let run = format!("01JD{at:04}{}", "0".repeat(18));
        let ms = 10.0 + 0.01 * f64::from(at % 7);
        let release = format!("v{}", at / 4);
        store(folder.path(), &run, Some(&release), "x", &[ms, ms, ms]);
    }
    let serving = Serving::start(folder.path());
    let list = serving.page("/");
    holds(&list, &["page 1 of 20", "1,000 runs", "older →"]);
    assert_eq!(list.matches("<tr>").count(), 51, "a page and its heads");
    holds(&serving.page("/?page=20"), &["← newer", "01JD0000"]);
    holds(
        &serving.page("/history/shop"),
        &["250 releases, 1,000 runs", "all 250"],
    );
    holds(&serving.page("/releases"), &["238 older releases"]);
    let compared = serving.page("/compare?a=v0&b=v249");
    holds(&compared, &["release v0: 4 runs", "search.p99"]);
}
