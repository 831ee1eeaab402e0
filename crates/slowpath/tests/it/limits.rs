//! Tracing takes no file that the load needs.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Server, assert_exit, invalid, of_the_long_list};

/// More than half of the limit.
const CONNECTIONS: &str = "60";

/// A run with 60 connections under limits in the notation of `ulimit`, with its report and what it said.
fn run_under(limits: &str, folder: &Path, server: &Server) -> (i32, Value, String) {
    let script = format!("ulimit {limits} && exec \"$0\" \"$@\"");
    let url = server.url();
    let output = Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_slowpath"), "run", &url])
        .args(["-c", CONNECTIONS, "-d", "1s", "--repeats", "1"])
        .args(["--out", "out", "--json", "report.json"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report = std::fs::read(folder.join("report.json")).expect(&said);
    let report = serde_json::from_slice(&report).unwrap();
    (output.status.code().unwrap_or(-1), report, said)
}

/// The errors of the run's only endpoint.
fn errors(report: &Value) -> &Value {
    &report["endpoints"][0]["errors"]
}

#[test]
fn a_low_soft_limit_is_raised() {
    if !of_the_long_list() {
        return;
    }
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (code, report, said) = run_under("-Sn 96", folder.path(), &server);
    assert_eq!(errors(&report).as_array().map(Vec::len), Some(0), "{said}");
    assert_exit(code, &report, 0);
}

#[test]
fn under_a_low_hard_limit_tracing_gives_way_and_says_so() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (code, report, said) = run_under("-n 112", folder.path(), &server);
    assert_eq!(errors(&report).as_array().map(Vec::len), Some(0), "{said}");
    assert_exit(code, &report, 0);
    assert!(invalid(&report).is_empty() || code == 4);
    let record = slowpath_record::read(&folder.path().join("out")).unwrap();
    let mut gaps = record.timeline.gaps.iter();
    let told = gaps.any(|gap| gap.signal.starts_with("trace.") && gap.reason.contains("files"));
    assert!(told, "{:?}", record.timeline.gaps);
}
