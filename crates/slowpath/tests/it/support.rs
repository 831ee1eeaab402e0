//! What the tests share: the binaries, servers that end with the test, and runs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

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
