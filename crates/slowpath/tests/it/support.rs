//! What the tests share: the binaries, servers that end with the test, and runs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::{self, ScopedJoinHandle};

use serde_json::Value;

/// The root of the source tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// A slowpath command in a folder of its own.
pub(crate) fn slowpath(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_slowpath"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The program in a folder that every user may read. Another process copies it: a file that this one writes to may be open in a child
/// that another test starts at that moment, and is not executed until that one has started (`ETXTBSY`, execve(2)).
pub(crate) fn copied_to(folder: &Path) -> PathBuf {
    let binary = folder.join("slowpath");
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_slowpath"))
        .arg(&binary)
        .status();
    assert!(copied.unwrap().success(), "{}", binary.display());
    binary
}

/// What a command printed on stderr.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a command printed on stdout.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says why a test did not run; shown with `--nocapture` and counted by the test command.
pub(crate) fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// The lab's binary, built once for all tests.
pub(crate) fn lab() -> &'static Path {
    static LAB: OnceLock<PathBuf> = OnceLock::new();
    LAB.get_or_init(|| {
        let beside = Path::new(env!("CARGO_BIN_EXE_slowpath")).with_file_name("lab");
        if is_built_of_what_is_there(&beside) {
            return beside;
        }
        let target = beside.parent().and_then(Path::parent).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--locked",
            "--package",
            "slowpath-lab",
            "--target-dir",
        ]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let built = cargo
            .arg(target)
            .current_dir(root())
            .stdin(Stdio::null())
            .status();
        assert!(
            built.is_ok_and(|s| s.success()) || beside.exists(),
            "the lab does not build"
        );
        beside
    })
}

/// Whether the lab is newer than all that it is built of, which is none of the other crates. Tests of the whole
/// workspace have built it: a build of it alone would have other features, and build half of all again.
fn is_built_of_what_is_there(program: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|facts| facts.modified()).ok();
    let Some(built) = changed(program) else {
        return false;
    };
    let mut folders = vec![root().join("lab")];
    let mut files = vec![root().join("Cargo.lock"), root().join("Cargo.toml")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let is_source = |path: &Path| {
                path.extension()
                    .is_some_and(|is| is == "rs" || is == "toml")
            };
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if is_source(&path) => files.push(path),
                _ => {}
            }
        }
    }
    files
        .iter()
        .all(|file| changed(file).is_some_and(|changed| changed <= built))
}

/// A process that ends with the test.
pub(crate) struct Server {
    child: Child,
    // Held so that the server's last words do not end in a broken pipe.
    stdout: BufReader<ChildStdout>,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a lab server that says on its first line where it listens.
    pub(crate) fn lab(args: &[&str]) -> Option<Self> {
        let mut child = Command::new(lab())
            .args(args)
            .args(["--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(said) = serde_json::from_str::<Value>(&line) else {
            let status = child.wait().unwrap();
            assert_eq!(
                status.code(),
                Some(77),
                "the lab server did not start: {line:?}"
            );
            return None;
        };
        let address = said["listening"].as_str().unwrap();
        let port = address.rsplit(':').next().unwrap().parse().unwrap();
        Some(Self {
            child,
            stdout,
            port,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it, and gives its truth.
    pub(crate) fn truth(mut self) -> Value {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        for _ in 0..100 {
            if self.child.try_wait().is_ok_and(|s| s.is_some()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a scenario and returns the exit code and the report.
pub(crate) fn run_scenario(folder: &Path, scenario: &str) -> (i32, Value, Output) {
    let file = folder.join("scenario.toml");
    std::fs::write(&file, scenario).unwrap();
    run(folder, &["scenario.toml"])
}

/// `slowpath run ARGS`, with its report.
pub(crate) fn run(folder: &Path, args: &[&str]) -> (i32, Value, Output) {
    let json = folder.join("report-copy.json");
    let mut all = vec!["run"];
    all.extend(args);
    all.extend(["--json", json.to_str().unwrap()]);
    let output = slowpath(folder, &all);
    let report = std::fs::read_to_string(&json)
        .map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    (output.status.code().unwrap_or(-1), report, output)
}

/// The causes that a report names, the answer first.
pub(crate) fn causes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().cloned().unwrap_or_default();
    findings
        .iter()
        .map(|f| f["cause"].as_str().unwrap().to_owned())
        .collect()
}

/// Why a report calls its own measurement invalid, check by check; empty where it stands.
pub(crate) fn invalid(report: &Value) -> Vec<String> {
    let checks = report["validity"].as_array().cloned().unwrap_or_default();
    let invalid = checks.iter().filter(|check| check["status"] == "invalid");
    invalid
        .map(|check| {
            let word = |field: &str| check[field].as_str().unwrap().to_owned();
            format!("{}: {}", word("check"), word("detail"))
        })
        .collect()
}

/// With fewer CPUs idle than this share of the host …
const IDLE_LEAST: f64 = 0.05;
/// … and so many in the hands of others, these and not the server say how long requests take …
const OTHERS_MOST: f64 = 0.1;
/// … and also where some are idle, since others come in bursts: half of one CPU of two.
const OTHERS_OFTEN: f64 = 0.25;

/// … and so much that the hypervisor gave to other machines: no thread on this one was idle by choice
/// then, and waits of all kinds become longer.
const STOLEN_MOST: f64 = 0.1;

/// Why this host was no place to see what a server does, by the report's own evidence: the
/// measurement is invalid, or others had the CPUs. Empty where neither is so.
pub(crate) fn unfit(report: &Value) -> Vec<String> {
    let mut why = invalid(report);
    let checks = report["validity"].as_array().cloned().unwrap_or_default();
    let host = checks.iter().find(|check| check["check"] == "host");
    let busy = host.and_then(|check| check["value"].as_f64());
    let repeats = report["run"]["health"]["repeats"].as_array().cloned();
    let repeats = repeats.unwrap_or_default();
    let most = |of: &str| {
        repeats
            .iter()
            .filter_map(|r| r[of].as_f64())
            .fold(0.0, f64::max)
    };
    let stolen = most("steal_share");
    if stolen > STOLEN_MOST {
        why.push(format!(
            "the hypervisor took {:.0} % of the CPUs",
            stolen * 100.0
        ));
    }
    let most = most("others_share");
    let is_full = busy > Some(1.0 - IDLE_LEAST);
    if is_full && most > OTHERS_MOST || most > OTHERS_OFTEN {
        let idle = if is_full { ", and none was idle" } else { "" };
        why.push(format!(
            "others used {:.0} % of the CPUs{idle}",
            most * 100.0
        ));
    }
    why
}

/// Whether a report names `cause` first. On a host that is unfit by the report's own evidence it
/// may also name nothing, and the test is skipped from here on; but nothing else than `cause` and
/// the instrument's own troubles may be named there either.
pub(crate) fn names(report: &Value, cause: &str) -> bool {
    let named = causes(report);
    if named.first().is_some_and(|first| first == cause) {
        return true;
    }
    let why = unfit(report);
    assert!(!why.is_empty(), "{cause} is not first: {report:#}");
    for named in named {
        let host = [
            "client-saturation",
            "clock-jump",
            "noisy-neighbour",
            "run-queue-delay",
        ];
        let is_true = named == cause || host.contains(&named.as_str());
        assert!(is_true, "{named} is named: {report:#}");
    }
    skipped(&format!("{cause} was not seen: {}", why.join("; ")));
    false
}

/// The causes that a report blames the server with: the instrument's own troubles are none of
/// its, nor is on an [`unfit`] host that others had the CPUs.
pub(crate) fn blamed(report: &Value) -> Vec<String> {
    let is_starved = !unfit(report).is_empty();
    let mut blamed = causes(report);
    blamed.retain(|cause| !["client-saturation", "noisy-neighbour"].contains(&cause.as_str()));
    blamed.retain(|cause| !(is_starved && cause == "run-queue-delay"));
    blamed
}

/// The exit code that a run must have which would end with `code` on a host that is fit.
pub(crate) fn assert_exit(code: i32, report: &Value, expected: i32) {
    let why = invalid(report);
    let expected = if why.is_empty() { expected } else { 4 };
    assert_eq!(code, expected, "{why:?}");
}

/// What disturbed a run enough to cost the host a good part of its score, by the report's own
/// evidence, beside what made it [`unfit`].
pub(crate) fn disturbances(report: &Value) -> Vec<String> {
    /// What the graver of two grades of a component costs.
    const GRAVE: u64 = 20;
    let during = ["clock", "steal", "throttling", "pressure"];
    let repeats = report["run"]["health"]["repeats"].as_array().cloned();
    let components = repeats.unwrap_or_default().into_iter();
    let components = components.flat_map(|r| r["components"].as_array().cloned().unwrap());
    let grave = components.filter(|component| {
        let is_during = during.iter().any(|name| component["name"] == *name);
        is_during && component["cost"].as_u64() >= Some(GRAVE)
    });
    let mut why = unfit(report);
    why.extend(grave.map(|component| component["text"].as_str().unwrap().to_owned()));
    why
}

/// Whether the one experiment on a run confirmed its hypothesis, which is true. On a host that
/// disturbed it, by the report of the experiment's own load, it may also have been undecided, and
/// the test is skipped from here on.
pub(crate) fn confirmed(folder: &Path, report: &Value) -> bool {
    let id = report["run"]["id"].as_str().unwrap();
    let experiments = folder.join(".slowpath/runs").join(id).join("experiments");
    let entries = std::fs::read_dir(&experiments).unwrap().flatten();
    let mut files = entries.map(|entry| entry.path());
    let file = files.find(|path| path.extension().is_some_and(|e| e == "json"));
    let file = file.unwrap();
    let experiment = std::fs::read_to_string(&file).unwrap();
    let experiment: Value = serde_json::from_str(&experiment).unwrap();
    let verdict = &experiment["outcome"]["verdict"];
    if verdict == "confirmed" {
        return true;
    }
    assert_eq!(verdict, "undecided", "{experiment:#}");
    let load = file.with_extension("");
    let args = ["explain", load.to_str().unwrap(), "--json", "load.json"];
    let explained = slowpath(folder, &args);
    assert!(explained.status.success(), "{}", stderr(&explained));
    let load = std::fs::read_to_string(folder.join("load.json")).unwrap();
    let why = disturbances(&serde_json::from_str(&load).unwrap());
    assert!(!why.is_empty(), "{experiment:#}");
    skipped(&format!("an experiment is undecided: {}", why.join("; ")));
    false
}

/// Runs all of these at once: loads of servers that wait rather than compute leave the CPUs to each
/// other.
pub(crate) fn side_by_side(all: &[&(dyn Fn() + Sync)]) {
    thread::scope(|scope| {
        let running: Vec<_> = all.iter().map(|one| scope.spawn(*one)).collect();
        // A thread that fails has said why.
        let ended: Vec<_> = running.into_iter().map(ScopedJoinHandle::join).collect();
        assert!(ended.iter().all(Result::is_ok));
    });
}

/// Whether the tests of the long list are wanted too; else says that this one is skipped.
pub(crate) fn of_the_long_list() -> bool {
    /// Set to anything it asks for them.
    const LONG: &str = "SLOWPATH_LONG_TESTS";
    let wanted = std::env::var_os(LONG).is_some();
    if !wanted {
        skipped(&format!("of the long list: {LONG}=1 runs it"));
    }
    wanted
}
