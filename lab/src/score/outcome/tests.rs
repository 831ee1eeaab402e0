//! What a report comes to.

use serde_json::json;

use super::*;

fn variant(expects: &[&str], also: &[&str], allows: &[&str]) -> Variant {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Variant {
        expects: owned(expects),
        also: owned(also),
        allows: owned(allows),
        ..Variant::default()
    }
}

fn report(valid: bool, causes: &[&str]) -> Value {
    let findings: Vec<Value> = causes
        .iter()
        .map(|cause| {
            let (cause, summary) = cause.split_once('/').unwrap_or((cause, ""));
            json!({"cause": cause, "share": 0.8, "grade": "supported", "where": "tail",
                   "endpoint": "page", "summary": summary})
        })
        .collect();
    json!({"run": {"valid": valid}, "findings": findings, "validity": [
        {"check": "host", "status": "warn", "detail": "busy"},
        {"check": "clock-jump", "status": "ok", "detail": ""}],
        "unexplained": [{"endpoint": "page", "where": "tail", "share": 0.2},
                        {"endpoint": "page", "where": "floor", "share": 0.9}]})
}

fn verdict(variant: &Variant, valid: bool, causes: &[&str]) -> Verdict {
    judge(&read(&report(valid, causes), variant), variant)
}

#[test]
fn the_first_name_decides() {
    let sick = variant(&["fixed-delay"], &[], &["queueing"]);
    for (causes, expected) in [
        (&["fixed-delay", "queueing"][..], Verdict::Right),
        (&["queueing", "fixed-delay"], Verdict::AmongThree),
        (&["queueing", "a", "b", "fixed-delay"], Verdict::Wrong),
        (&["lock-contention"], Verdict::Wrong),
        (&["queueing"], Verdict::Missed),
        (&[], Verdict::Missed),
    ] {
        assert_eq!(verdict(&sick, true, causes), expected, "{causes:?}");
    }
}

#[test]
fn to_say_that_it_cannot_be_told_is_more_than_to_miss_it() {
    let sick = variant(&["fixed-delay"], &[], &[]);
    let mut report = report(true, &[]);
    report["blind"] = json!([{"cause": "fixed-delay", "missing": "", "remedy": ""}]);
    assert_eq!(judge(&read(&report, &sick), &sick), Verdict::Blind);
    report["blind"] = json!([{"cause": "lock-contention"}]);
    assert_eq!(judge(&read(&report, &sick), &sick), Verdict::Missed);
}

#[test]
fn both_of_a_combination_must_be_found() {
    let both = variant(&["fixed-delay"], &["lock-contention"], &[]);
    let causes = &["fixed-delay", "lock-contention"];
    assert_eq!(verdict(&both, true, causes), Verdict::Right);
    assert_eq!(verdict(&both, true, &causes[..1]), Verdict::Half);
}

#[test]
fn nothing_may_be_named_in_a_healthy_server() {
    let healthy = variant(&[], &[], &["queueing"]);
    assert_eq!(verdict(&healthy, true, &[]), Verdict::Quiet);
    assert_eq!(verdict(&healthy, true, &["queueing"]), Verdict::Quiet);
    assert_eq!(
        verdict(&healthy, true, &["fixed-delay"]),
        Verdict::FalseName
    );
}

#[test]
fn the_host_is_no_name_of_the_server() {
    let healthy = variant(&[], &[], &[]);
    let causes = &[
        "client-saturation",
        "run-queue-delay/threads wait for a CPU that others have",
    ];
    assert_eq!(verdict(&healthy, true, causes), Verdict::Quiet);
    let said = read(&report(true, causes), &healthy);
    assert_eq!((said.named.len(), said.host.len()), (0, 2));
    assert_eq!(said.checks, ["host warn: busy"]);
    let own = &["run-queue-delay/the server has more threads than CPUs"];
    assert_eq!(verdict(&healthy, true, own), Verdict::FalseName);
    let starved = variant(&["run-queue-delay"], &[], &[]);
    assert_eq!(
        verdict(
            &starved,
            true,
            &["run-queue-delay/for a CPU that others have"]
        ),
        Verdict::Right
    );
}

#[test]
fn an_invalid_run_decides_nothing_unless_that_is_expected() {
    let sick = variant(&["fixed-delay"], &[], &[]);
    assert_eq!(verdict(&sick, false, &["fixed-delay"]), Verdict::Invalid);
    let jumps = variant(&["clock-jump"], &[], &[]);
    assert_eq!(verdict(&jumps, false, &["clock-jump"]), Verdict::Right);
}

#[test]
fn what_is_unexplained_is_that_of_the_place_where_the_cause_is() {
    let sick = variant(&["fixed-delay"], &[], &[]);
    let said = read(&report(true, &["fixed-delay", "queueing"]), &sick);
    assert_eq!(unexplained(&said, &sick), Some(0.2));
    assert_eq!(false_names(&said, &sick), ["queueing"]);
    let said = read(&report(true, &["queueing"]), &sick);
    assert_eq!(unexplained(&said, &sick), Some(1.0));
    let mut said = read(&report(true, &["fixed-delay"]), &sick);
    said.named[0].place = "errors".to_owned();
    assert_eq!(unexplained(&said, &sick), None);
}

/// A report of which the attribution has two slow sets.
fn attributed(causes: &[&str], cleared: &[&str]) -> Value {
    let mut report = report(true, causes);
    let line = |state: &str, text: &str| {
        json!({"share": 0.7, "state": state, "text": text, "culprit": {"process": "gunicorn",
               "thread": "gunicorn", "stack": ["time.sleep", "Report.get"], "peer": null}})
    };
    let other = [line("unknown", "unknown: lost records")];
    report["attribution"] = json!([
        {"endpoint": "page", "where": "tail", "excess_s": 2.0,
         "lines": [line("Queued", "waiting for one of 2 workers"), other[0]]},
        {"endpoint": "page", "where": "failures", "excess_s": 0.1, "lines": [line("reply", "db")]},
        {"endpoint": "report", "where": "floor", "excess_s": 9.0, "lines": [line("OnCpu", "a")]}]);
    report["cleared"] = cleared
        .iter()
        .map(|cause| json!({"cause": cause, "text": "0 %"}))
        .collect();
    report
}

fn with_line(mut variant: Variant, state: &str, word: &str) -> Variant {
    let owned = |text: &str| vec![text.to_owned()];
    variant.line = Some(ExpectedLine {
        state: owned(state),
        words: owned(word),
    });
    variant
}

#[test]
fn the_first_line_is_right_by_state_and_culprit() {
    let sick = variant(&["fixed-delay"], &[], &[]);
    for (causes, state, word, expected) in [
        (&["fixed-delay"][..], "queued", "GUNICORN", true),
        (&["fixed-delay"], "queued", "report.get", true),
        (&["fixed-delay"], "queued", "2 workers", true),
        (&["fixed-delay"], "queued", "redis", false),
        (&["fixed-delay"], "reply", "gunicorn", false),
        // The expected finding decides which slow set is compared, then the first finding.
        (&["queueing", "fixed-delay"], "queued", "gunicorn", true),
        (&["queueing"], "queued", "gunicorn", true),
        // Without a finding it is the slowest one.
        (&[], "on-cpu", "gunicorn", true),
    ] {
        let sick = with_line(sick.clone(), state, word);
        let said = read(&attributed(causes, &[]), &sick);
        assert_eq!(
            is_line_right(&said, &sick),
            Some(expected),
            "{causes:?} {state} {word}"
        );
    }
    let said = read(&attributed(&[], &[]), &sick);
    assert_eq!(is_line_right(&said, &sick), None);
    let sick = with_line(sick, "queued", "gunicorn");
    let said = read(&report(true, &["fixed-delay"]), &sick);
    assert_eq!(is_line_right(&said, &sick), None);
    let mut failing = attributed(&["fixed-delay"], &[]);
    failing["findings"][0]["where"] = json!("errors");
    assert_eq!(read(&failing, &sick).first_line.unwrap().state, "reply");
}

#[test]
fn names_are_compared_with_hyphens() {
    for (name, expected) in [
        ("OnCpu", "on-cpu"),
        ("send_blocked", "send-blocked"),
        ("disk (sync)", "disk-sync"),
        ("Queued", "queued"),
    ] {
        assert_eq!(hyphened(name), expected);
    }
    assert!(is_state("disk-sync", "disk") && !is_state("disk", "disk-sync"));
}

#[test]
fn truth_that_is_cleared_is_seen_whatever_is_named() {
    let sick = variant(&["fixed-delay", "queueing"], &["lock-contention"], &[]);
    let cleared = &["queueing", "slow-scan"];
    for causes in [
        &["fixed-delay", "lock-contention"][..],
        &["slow-dependency"],
        &[],
    ] {
        let said = read(&attributed(causes, cleared), &sick);
        let names: Vec<&str> = said
            .cleared_truth
            .iter()
            .map(|one| one.cause.as_str())
            .collect();
        assert_eq!(names, ["queueing"], "{causes:?}");
    }
    let said = read(&attributed(&["queueing"], cleared), &sick);
    assert!(said.cleared_truth.is_empty());
    let mut elsewhere = attributed(&["fixed-delay"], cleared);
    elsewhere["cleared"][0]["endpoint"] = json!("home");
    assert!(read(&elsewhere, &sick).cleared_truth.is_empty());
    elsewhere["cleared"][0]["endpoint"] = json!("page");
    assert_eq!(read(&elsewhere, &sick).cleared_truth.len(), 1);
}
