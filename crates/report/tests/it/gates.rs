//! Gates in every view of a run.

use slowpath_core::gates::{GateAnswer, GateOutcome};
use slowpath_report::Style;

use crate::sample;

fn outcome(that: &str, answer: GateAnswer, takes: &str) -> GateOutcome {
    GateOutcome {
        that: that.to_owned(),
        line: 12,
        answer,
        value: Some(1.42e9),
        low: Some(1.31e9),
        high: Some(1.55e9),
        text: "search.p99 is 1420 ms [1310 ms, 1550 ms] over 5 repeats".to_owned(),
        takes: takes.to_owned(),
    }
}

#[test]
fn gates_are_told_with_what_they_rest_on_and_what_they_would_take() {
    let mut diagnosis = sample::diagnosis("static");
    diagnosis.gates = vec![
        outcome("search.p99 < 1s", GateAnswer::Fails, ""),
        outcome("\"a | <b>\".p99 < 2s", GateAnswer::Holds, ""),
        outcome(
            "search.p99 < 1500ms",
            GateAnswer::CannotTell,
            "about 9 repeats",
        ),
    ];
    let style = Style {
        color: false,
        width: 160,
        verbose: false,
    };
    let terminal = slowpath_report::terminal(&diagnosis, &[], style, None);
    let gates = slowpath_report::gates_terminal(&diagnosis.gates, style);
    assert!(terminal.contains(&gates), "{terminal}");
    assert_eq!(
        gates.lines().next(),
        Some("gates: 1 holds, 1 fails, 1 cannot be decided")
    );
    assert!(
        gates.contains("  fails        search.p99 < 1s\n"),
        "{gates}"
    );
    assert!(gates.contains("it would take: about 9 repeats"), "{gates}");
    let markdown = slowpath_report::markdown(&diagnosis, &[]);
    assert!(markdown.contains("## Gates"), "{markdown}");
    let row = markdown.lines().find(|line| line.contains("| holds |"));
    assert!(row.is_some_and(|row| !row.contains("a | <b>")), "{row:?}");
    assert_eq!(slowpath_report::gates_terminal(&[], style), "");
}

#[test]
fn the_page_escapes_gates_and_has_none_where_there_are_none() {
    let mut diagnosis = sample::diagnosis("static");
    let record = sample::record("static");
    let page = slowpath_report::html(&diagnosis, &record, &[]);
    assert!(!page.contains("id=\"gates\""));
    diagnosis.gates = vec![outcome("\"<b>\".p99 < 1s", GateAnswer::Fails, "")];
    let page = slowpath_report::html(&diagnosis, &record, &[]);
    assert!(page.contains("id=\"gates\"") && page.contains("&lt;b&gt;"));
}
