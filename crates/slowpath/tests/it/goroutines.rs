//! What requests of a Go server wait for in user space, where the kernel sees idle threads: read from the memory of
//! `foreign/waits.go`.

use std::path::Path;

use serde_json::Value;

use crate::foreign;
use crate::support::{is_root, names, of_the_long_list, run_scenario, skipped, stderr};

/// Runs the server in this mode, beside another one that answers after a while, and gives the report.
fn judged(folder: &Path, mode: &str, answers_after_ms: u32, rate: u32) -> Option<Value> {
    if !is_root() {
        skipped("not root: requests are not followed");
        return None;
    }
    let server = foreign::waits(folder)?;
    let words = |words: [&str; 3]| -> Vec<String> {
        let words = words.map(str::to_owned);
        server.iter().cloned().chain(words).collect()
    };
    let command = words(["{port}", mode, "{service.other.port}"]);
    let other = words(["{port}", "other", &answers_after_ms.to_string()]);
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {command:?}\nready = \"tcp\"\n\
         [[service]]\nname = \"other\"\ncommand = {other:?}\nready = \"tcp\"\n\
         [load]\nmodel = \"open\"\nrate = \"{rate}/s\"\nconnections = 16\n\
         warmup = \"1s\"\nduration = \"6s\"\n\
         [[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (_, report, output) = run_scenario(folder, &scenario);
    assert!(!report.is_null(), "{}", stderr(&output));
    Some(report)
}

/// The cause is the first, and the function is named in which the one stands that has what is waited for.
fn named(report: &Value, cause: &str, function: &str) {
    if !names(report, cause) {
        return;
    }
    let finding = &report["findings"][0];
    let frames = finding["culprit"]["stack"].as_array().unwrap().iter();
    let mut frames = frames.filter_map(Value::as_str);
    assert!(frames.any(|f| f.starts_with(function)), "{finding:#}");
}

#[test]
fn a_mutex_that_another_request_holds_over_a_call_is_told() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(report) = judged(folder.path(), "lock", 10, 60) {
        named(&report, "lock-held-over-io", "main.");
    }
}

#[test]
fn a_semaphore_is_told() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(report) = judged(folder.path(), "permits", 10, 150) {
        named(&report, "concurrency-limit", "main.");
    }
}

#[test]
fn a_pool_of_connections_is_told() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(report) = judged(folder.path(), "pool", 10, 150) {
        named(&report, "connection-pool-exhaustion", "main.query");
    }
}

#[test]
fn a_sleep_is_told() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(report) = judged(folder.path(), "sleep", 10, 100) {
        named(&report, "fixed-delay", "main.");
    }
}

#[test]
fn a_pause_before_another_attempt_is_told() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if let Some(report) = judged(folder.path(), "backoff", 10, 100) {
        names(&report, "retry-backoff");
    }
}
