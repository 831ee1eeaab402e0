//! Tables that a real project published over twelve releases, imported: what took people weeks is found
//! by the first import.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::support::{root, slowpath, stderr, stdout};

/// Imports a table of the fixtures, and what that said: the answer and the conversation.
fn import(folder: &Path, table: &str, more: &[&str]) -> (String, String) {
    let file = root().join("crates/slowpath/tests/fixtures/tables");
    let file = file.join(format!("{table}.csv"));
    let args = ["import", "csv", file.to_str().unwrap(), "--name", table];
    let output = slowpath(folder, &[&args[..], more].concat());
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    (unfolded(&stdout(&output)), unfolded(&told))
}

/// A text without the breaks that a terminal's width makes.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(
            text.contains(part),
            "{part}\n{}",
            text.replace(" - ", "\n- ")
        );
    }
}

#[test]
fn warm_runs_show_a_tail_that_recurs_a_constant_in_four_rows_and_a_drift() {
    let folder = tempfile::tempdir().unwrap();
    let (said, told) = import(folder.path(), "warm", &[]);
    says(
        &said,
        &[
            "imported 19 runs of 13 releases",
            "uptime has a tail of its own in 6 runs in succession, v3.11.1 to v3.50.7",
            "take the same 440 ms in v3.50.4, v3.50.7",
            "2 x a wait of 200 ms",
            "Aggregated.p50: worse by +46 % since v3.44.0",
            "15 ms → 24 ms, +60 %, since v3.4.5",
        ],
    );
    let start = said.find("slow requests of").unwrap();
    let rows = &said[start..said.find("take the same").unwrap()];
    for row in ["uptime", "auto", "conditional", "conditional_remainder"] {
        assert!(rows.contains(row), "{row}: {rows}");
    }
    says(&told, &["are the largest of too few requests"]);
    // What is stored says where it is from, and which percentiles are none.
    let mut runs: Vec<_> = std::fs::read_dir(folder.path().join(".slowpath/runs"))
        .unwrap()
        .map(|run| run.unwrap().path().join("figures.json"))
        .collect();
    runs.sort();
    let figures = |at: usize| -> Value {
        serde_json::from_str(&std::fs::read_to_string(&runs[at]).unwrap()).unwrap()
    };
    let newest = figures(runs.len() - 1);
    assert_eq!(newest["origin"]["imported"]["format"], "csv");
    assert_eq!(newest["release"], "v3.50.14");
    let rows = newest["rows"].as_array().unwrap();
    let find = |subject: &str, metric: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row["subject"] == subject && row["metric"] == metric)
    };
    let refused = |subject, metric| find(subject, metric).unwrap()["refused"].as_str();
    let told = refused("uptime", "p99").unwrap();
    assert!(told.contains("is the largest of them"), "{told}");
    assert_eq!(refused("fusion_explicit", "p99"), Some(""));
}

#[test]
fn a_declared_timer_is_what_a_constant_is_held_against() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = import(folder.path(), "warm", &["--timer", "wait_events=200ms"]);
    says(&said, &["+ 2 x wait_events (200 ms) + "]);
    let output = slowpath(
        folder.path(),
        &["import", "csv", "x", "--timer", "wait_events"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("poll=200ms"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn cold_runs_show_a_worst_row_that_moves_and_a_regression_that_is_none() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("investigations")).unwrap();
    let (said, _) = import(folder.path(), "cold", &[]);
    says(
        &said,
        &[
            "the worst tail changes from run to run",
            "conditional.p99: 1.8 s → 9.8 s at v3.50.9 is within the scatter of unchanged code (3 \
             runs of v3.50.14 lie between 1.4 s and 11 s)",
        ],
    );
    assert!(
        !said.contains("a tail of its own"),
        "all are slow while caches are cold: {said}"
    );
    // The same is reported to later questions.
    let output = slowpath(folder.path(), &["history", "cold"]);
    says(
        &unfolded(&stdout(&output)),
        &["is within the scatter of unchanged code"],
    );
}

#[test]
fn tables_of_a_service_that_scatters_and_nothing_else_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("release,endpoint,n,p50 [ms],p95 [ms],p99 [ms]\n");
    for at in 0..12_u32 {
        for (row, name) in (0_u32..).zip(["a", "b", "c", "d", "e", "f"]) {
            // About ten per cent, in no order.
            let scatter =
                |salt: u32| f64::from((at * 7 + row * 13 + salt * 5) * 2_654 % 211) / 1055.0;
            let (p50, p95, p99) = (
                20.0 + 4.0 * scatter(1),
                60.0 + 12.0 * scatter(2),
                90.0 + 18.0 * scatter(3),
            );
            let _ = writeln!(table, "v{at},{name},5000,{p50:.1},{p95:.1},{p99:.1}");
        }
    }
    std::fs::write(folder.path().join("t.csv"), table).unwrap();
    let output = slowpath(
        folder.path(),
        &["import", "auto", "t.csv", "--name", "quiet"],
    );
    let said = unfolded(&stdout(&output));
    says(&said, &["imported 12 runs of 12 releases"]);
    for part in ["a tail of its own", "take the same", "within the scatter"] {
        assert!(!said.contains(part), "{part}: {said}");
    }
}
