//! Connections that a server takes away, and what its kernel says of that.

use std::path::Path;

use serde_json::Value;

use crate::foreign;
use crate::support::{of_the_long_list, run_scenario, skipped, slowpath, stderr};

/// Faults of one kind in a run, at the least: every tenth of 150 requests a second meets one of
/// three alternately, for two seconds, of which a fifth is not traced.
const LEAST: u64 = 4;

/// The report of a run against `resets.py`, if its kernel could be asked; `explain` says the same.
fn judged(folder: &Path, mode: &str) -> Option<Value> {
    let mut words = foreign::resets(folder)?;
    words.extend(["{port}", mode].map(str::to_owned));
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = {words:?}\nready = \"tcp\"\n\
         [load]\nmodel = \"open\"\nrate = \"150/s\"\nconnections = 8\nwarmup = \"300ms\"\n\
         duration = \"2s\"\n[[endpoint]]\nname = \"page\"\nrequest = \"GET /\"\n"
    );
    let (code, report, output) = run_scenario(folder, &scenario);
    assert!(code == 6 || code == 4, "{code}: {}", stderr(&output));
    let depth = report["trace"]["depth"].as_str().unwrap_or("none");
    if !["light", "full"].contains(&depth) {
        skipped(&format!(
            "only tracepoints report resets, and the depth is {depth}"
        ));
        return None;
    }
    let output = slowpath(folder, &["explain", "last", "--json", "again.json"]);
    let again = std::fs::read_to_string(folder.join("again.json"));
    let again = again.unwrap_or_else(|error| panic!("{error}: {}", stderr(&output)));
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["endpoints"], report["endpoints"], "judged again");
    Some(report)
}

/// The ends that were seen of failures of a class, and of how many failures.
fn seen(report: &Value, class: &str) -> (Vec<Value>, u64) {
    let errors = report["endpoints"][0]["errors"].as_array().unwrap();
    let of_class = errors.iter().filter(|error| error["class"] == class);
    let kernels: Vec<&Value> = of_class.map(|error| &error["kernel"]).collect();
    let ends = kernels.iter().flat_map(|k| k["ends"].as_array().unwrap());
    let n = kernels.iter().map(|kernel| kernel["n"].as_u64().unwrap());
    (ends.cloned().collect(), n.sum())
}

/// The end of that kind and reason; a kernel that reports no reasons (before 6.10) gives none.
fn end<'a>(ends: &'a [Value], what: &str, reason: Option<&str>) -> &'a Value {
    let is = |end: &&Value| {
        let told = end["reason"].as_str();
        end["what"] == what && (told.is_none() || told == reason)
    };
    let found = ends.iter().find(is);
    found.unwrap_or_else(|| panic!("no {what} because of {reason:?} in {ends:#?}"))
}

#[test]
fn resets_have_the_kernels_reason_and_the_thread_that_closed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(report) = judged(folder.path(), "each") else {
        return;
    };
    let (ends, n) = seen(&report, "reset");
    let counts = ends.iter().map(|end| end["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), n, "each that was traced: {ends:#?}");
    assert!(n >= 2 * LEAST, "{ends:#?}");
    for reason in ["TCP_ABORT_ON_CLOSE", "TCP_STATE"] {
        let end = end(&ends, "server-reset", Some(reason));
        assert_eq!(end["thread"], "python3");
        assert_eq!(end["process_ended"], false);
    }
    let (ends, n) = seen(&report, "closed");
    let closed = end(&ends, "server-closed", None);
    let count = closed["count"].as_u64();
    assert!(count == Some(n) && n >= LEAST, "{ends:#?}");
}

#[test]
fn a_server_that_ended_has_no_socket_left() {
    if !of_the_long_list() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(report) = judged(folder.path(), "exit") else {
        return;
    };
    let (ends, n) = seen(&report, "refused");
    let none = end(&ends, "server-reset", Some("NO_SOCKET"));
    let count = none["count"].as_u64();
    assert!(count == Some(n) && n >= LEAST, "{ends:#?}");
    assert!(none["thread"].is_null(), "no thread's call: {none:#}");
}
