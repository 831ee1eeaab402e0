//! Gates against a real server: exit codes, and what continuous integration reads.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{Server, invalid, skipped, slowpath, stderr, stdout};

fn scenario(server: &Server, gates: &str) -> String {
    format!(
        "name = \"shop\"\n[target]\nurl = \"{}\"\n[load]\nrate = \"60/s\"\nconnections = 4\n\
         duration = \"1s\"\nwarmup = \"200ms\"\nrepeats = 3\n\
         [[endpoint]]\nname = \"home\"\nrequest = \"GET /\"\n{gates}",
        server.url().trim_end_matches('/')
    )
}

fn gate(that: &str) -> String {
    format!("[[gate]]\nthat = '{that}'\n")
}

/// Whether the host gave the load so little of its CPUs that the measurement is invalid, as it is
/// beside other work: what gates say of it is tested elsewhere.
fn is_too_busy(folder: &Path, run: &Output) -> bool {
    if run.status.code() != Some(4) {
        return false;
    }
    let explained = slowpath(folder, &["explain", "last", "--json", "last.json"]);
    assert_eq!(explained.status.code(), Some(0), "{}", stderr(&explained));
    let report = std::fs::read_to_string(folder.join("last.json")).unwrap();
    let why = invalid(&serde_json::from_str(&report).unwrap());
    assert!(!why.is_empty(), "exit code 4, and {report}");
    skipped(&format!("the host spoiled a run: {}", why.join("; ")));
    true
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_failed_gate_is_exit_5_and_an_open_one_only_if_strict() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let holds = gate("home.p50 < 10s") + &gate("home.offered = home.completed + home.unfinished");
    write(
        folder,
        "shop.toml",
        &scenario(&server, &(holds.clone() + &gate("home.errors <= 0"))),
    );
    let args = [
        "run",
        "shop.toml",
        "--release",
        "v1",
        "--json",
        "r.json",
        "--seed",
        "3",
    ];
    let run = slowpath(folder, &args);
    if is_too_busy(folder, &run) {
        return;
    }
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}{}",
        stderr(&run),
        stdout(&run)
    );
    assert!(stdout(&run).contains("gates: 3 hold"), "{}", stdout(&run));
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("r.json")).unwrap()).unwrap();
    assert_eq!(report["gates"][1]["answer"], "holds");
    assert_eq!(report["gates"][0]["line"], 14);

    other_gates(folder, &report);
    // What cannot be decided passes, unless it must not.
    write(folder, "open.toml", &gate("home.p99.9 < 1s"));
    let open = ["gate", "last", "--gates", "open.toml"];
    assert_eq!(slowpath(folder, &open).status.code(), Some(0));
    let strict = [&open[..], &["--strict"]].concat();
    assert_eq!(slowpath(folder, &strict).status.code(), Some(5));
}

/// The same run against other gates: one fails, one cannot be decided.
fn other_gates(folder: &Path, report: &Value) {
    let p50 = report["endpoints"][0]["latency_ms"]["p50"]["value"]
        .as_f64()
        .unwrap();
    let at = format!(
        "home.p50 in {}us..{}us",
        (p50 * 1e3) as u64 / 2,
        (p50 * 1e3) as u64 + 1
    );
    let others = gate("home.p50 > 10s") + &gate("home.p99.9 < 1s") + &gate("home.rate > 1/s");
    write(folder, "others.toml", &(others + &gate(&at)));
    let all = [
        "gate",
        "last",
        "--gates",
        "others.toml",
        "--junit",
        "out.xml",
        "--github",
    ];
    let judged = slowpath(folder, &[&all[..], &["--json", "gates.json"]].concat());
    assert_eq!(judged.status.code(), Some(5), "{}", stderr(&judged));
    let said = stdout(&judged);
    assert!(
        said.contains("::error file=others.toml,line=2,title=fails%3A home.p50 > 10s"),
        "{said}"
    );
    assert!(
        said.contains("::warning file=others.toml,line=4,title=cannot tell"),
        "{said}"
    );
    let xml = std::fs::read_to_string(folder.join("out.xml")).unwrap();
    assert!(
        xml.contains("tests=\"4\"") && xml.contains("failures=\"1\""),
        "{xml}"
    );
    let gates: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("gates.json")).unwrap()).unwrap();
    assert_eq!(gates["schema"], "slowpath.gates/1");
    assert_eq!(gates["gates"][2]["answer"], "holds");
    assert!(!gates["gates"][1]["takes"].as_str().unwrap().is_empty());
}

#[test]
fn a_scenario_is_measured_and_held_against_a_release() {
    let server = Server::lab(&["healthy"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gates = gate("home.rate / baseline.home.rate in 0.5..2") + &gate("home.rate > 90000/s");
    write(folder, "shop.toml", &scenario(&server, &gates));
    let first = slowpath(
        folder,
        &["run", "shop.toml", "--release", "v1", "--seed", "3"],
    );
    if is_too_busy(folder, &first) {
        return;
    }
    assert_eq!(first.status.code(), Some(5), "{}", stderr(&first));
    let told = stdout(&first);
    assert!(
        told.contains("cannot tell") && told.contains("--baseline RUN"),
        "{told}"
    );
    let args = [
        "gate",
        "shop.toml",
        "--baseline",
        "v1",
        "--seed",
        "4",
        "--github",
    ];
    let second = slowpath(folder, &args);
    if is_too_busy(folder, &second) {
        return;
    }
    let told = stdout(&second);
    assert_eq!(second.status.code(), Some(5), "{told}{}", stderr(&second));
    assert!(told.contains("gates: 1 holds, 1 fails"), "{told}");
    assert!(told.contains("::error file=shop.toml,line=16"), "{told}");
    // Exit 5 comes before 6, and after it nothing.
    let args = ["gate", "last", "--baseline", "v1"];
    assert_eq!(slowpath(folder, &args).status.code(), Some(5));
}

#[test]
fn benchmarks_are_held_against_each_other_and_mistakes_are_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = "BenchmarkParse 121 ns/op\nBenchmarkNew 101 ns/op\nBenchmarkAlloc 34 allocs/op\n";
    write(folder, "lines.txt", lines);
    let regex = r"(?m)^(?<name>Benchmark\w+) (?<value>\d+) (?<unit>\S+)/op$";
    let bench = ["bench", "--quiet", "--repeats", "5", "--regex", regex];
    let bench = slowpath(folder, &[&bench[..], &["--", "cat", "lines.txt"]].concat());
    assert_eq!(bench.status.code(), Some(0), "{}", stderr(&bench));
    let figures = std::fs::read_dir(folder.join(".slowpath/runs")).unwrap();
    let run = figures.flatten().next().unwrap().path();
    let figures: Value =
        serde_json::from_str(&std::fs::read_to_string(run.join("figures.json")).unwrap()).unwrap();
    let metric = |subject: &str| {
        let rows = figures["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["subject"] == subject).unwrap();
        row["metric"].as_str().unwrap().to_owned()
    };
    let (time, allocs) = (metric("BenchmarkParse"), metric("BenchmarkAlloc"));
    let gates = gate(&format!(
        "BenchmarkParse.{time} / BenchmarkNew.{time} < 1.5"
    )) + &gate(&format!("BenchmarkNew.{time} <= BenchmarkParse.{time}"))
        + &gate(&format!("BenchmarkAlloc.{allocs} <= 34"))
        + &gate(&format!("BenchmarkParse.{time} < 110ns"));
    write(folder, "gates.toml", &gates);
    let judged = slowpath(folder, &["gate", "last", "--gates", "gates.toml"]);
    let said = stdout(&judged);
    assert_eq!(judged.status.code(), Some(5), "{said}{}", stderr(&judged));
    assert!(said.contains("gates: 3 hold, 1 fails"), "{said}");
    let bad = gate("BenchmarkParse.p99 < 1ms")
        + &gate(&format!("BenchmarkParse.{time} < 3"))
        + &gate("BenchmarkOld.time < 3ns");
    write(folder, "bad.toml", &bad);
    let judged = slowpath(folder, &["gate", "last", "--gates", "bad.toml"]);
    let said = stderr(&judged);
    assert_eq!(judged.status.code(), Some(2), "{said}");
    assert!(
        said.contains("bad.toml:2: ") && said.contains("metrics here are"),
        "{said}"
    );
    assert!(
        said.contains("bad.toml:4: ") && said.contains("has no unit"),
        "{said}"
    );
    assert!(
        said.contains("bad.toml:6: ") && said.contains("one of Benchmark"),
        "{said}"
    );
}
