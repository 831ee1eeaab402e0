//! Repeating until it is precise.

use serde_json::Value;

use crate::support::{Server, assert_exit, disturbances, slowpath, stderr};

/// The report of a run against a healthy server, and what was said beside it.
fn run(precision: &str, most: &str) -> (Value, String) {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let scenario = format!(
        "[target]\nurl = \"http://127.0.0.1:{}\"\n[load]\nrate = \"200/s\"\n\
         duration = \"300ms\"\nwarmup = \"200ms\"\nprecision = \"{precision}\"\n\
         [[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n",
        server.port
    );
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let arguments = [
        "run",
        "s.toml",
        "--repeats",
        most,
        "--no-trace",
        "--json",
        "r.json",
    ];
    let output = slowpath(folder.path(), &arguments);
    let text = std::fs::read_to_string(folder.path().join("r.json"));
    let report = serde_json::from_str(&text.unwrap_or_default()).unwrap_or_default();
    assert_exit(output.status.code().unwrap_or(-1), &report, 0);
    (report, stderr(&output))
}

/// The check of a report's precision.
fn check(report: &Value) -> &Value {
    let checks = report["validity"].as_array().unwrap();
    checks.iter().find(|c| c["check"] == "precision").unwrap()
}

#[test]
fn what_is_precise_enough_stops_and_what_is_not_goes_on_to_the_cap() {
    let (report, said) = run("99%", "7");
    assert!(said.contains("5 to 7 repeats"), "{said}");
    let repeats = report["run"]["repeats"].as_u64().unwrap();
    assert!((5..=7).contains(&repeats), "{repeats}");
    if disturbances(&report).is_empty() {
        assert!(repeats < 7, "it never stopped: {report:#}");
    }
    let of = &report["endpoints"][0]["by_repeat"];
    assert_eq!(of.as_array().unwrap().len() as u64, repeats);
    // The report sees more of the host, and may put a repeat aside that the run counted.
    let hosts = report["run"]["health"]["repeats"].as_array().unwrap();
    let kept = hosts.iter().filter(|repeat| repeat["aside"] == "");
    if kept.count() >= 5 && repeats < 7 {
        assert_eq!(check(&report)["status"], "ok", "{report:#}");
    }
    let (report, _) = run("0.001%", "6");
    assert_eq!(report["run"]["repeats"], 6);
    assert_eq!(check(&report)["status"], "warn");
}
