//! The investigation log, judged: what counts as a measurement, and of what.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "not all that other tests make up is needed here")]

#[path = "figures/made.rs"]
mod made;
#[path = "figures/story.rs"]
mod story;

use std::slice;

use slowpath_core::investigation::{BY_SLOWPATH, Decision, Entry, Target, Verdict, What};
use slowpath_experiment::log::{
    Log, LogReport, Standing, Status, check, figure_of, is_to_be_checked, status,
};
use story::{decided, entry, opened, outcome, predicts, run, standing_of, tail};

#[test]
fn what_was_measured_before_a_reopening_confirms_nothing() {
    let due = predicts(2, "search.p99 in 96ms..118ms", None);
    let story = [
        opened(1),
        due.clone(),
        decided(3, Decision::Fixed, None, None),
        outcome(4, &due, "v2", Verdict::Held),
        entry(5, What::Reopening),
        decided(6, Decision::Fixed, None, None),
    ];
    let one = [tail("a", &story)];
    assert_eq!(status(&one[0]).0, Status::FixedUnconfirmed);
    // The prediction that held is watched again, and confirms the fix once it holds again.
    let (entry, prediction) = one[0].predictions().next().unwrap();
    let log = Log::new(&one, &[]);
    assert!(is_to_be_checked(
        &log,
        &one[0],
        entry,
        prediction,
        &run(7, "v3", 105.0)
    ));
    assert!(!one[0].held_since(&entry.id));
    let again = outcome(8, &due, "v3", Verdict::Held);
    let story: Vec<Entry> = story.into_iter().chain([again]).collect();
    assert_eq!(status(&tail("a", &story)).0, Status::FixedAndConfirmed);
}

#[test]
fn an_experiment_confirms_no_fix_and_no_release_tests_it() {
    let mut own = predicts(2, "search.p99 in 96ms..118ms", None);
    own.by = Some(BY_SLOWPATH.to_owned());
    let mut shown = outcome(3, &own, "v2", Verdict::Held);
    if let What::Outcome(outcome) = &mut shown.what {
        outcome.release = None;
    }
    let base = [opened(1), own.clone(), shown];
    let asked = |entries: &[Entry]| {
        let one = [tail("a", entries)];
        let log = Log::new(&one, &[]);
        let (entry, prediction) = one[0].predictions().next().unwrap();
        is_to_be_checked(&log, &one[0], entry, prediction, &run(9, "v9", 105.0))
    };
    assert!(!asked(&base));
    let with = |more: &[Entry]| -> Vec<Entry> { base.iter().chain(more).cloned().collect() };
    let fixed = decided(5, Decision::Fixed, None, None);
    let closed = tail("a", &with(slice::from_ref(&fixed)));
    assert_eq!(status(&closed).0, Status::FixedUnconfirmed);
    // Once something was changed for its sake, a release has to show it.
    let change = decided(4, Decision::Changed, Some(&own), Some("v9"));
    assert!(asked(&with(slice::from_ref(&change))));
    let held = outcome(9, &own, "v9", Verdict::Held);
    assert!(!asked(&with(&[change.clone(), held.clone()])));
    let confirmed = tail("a", &with(&[change, fixed, held]));
    assert_eq!(status(&confirmed).0, Status::FixedAndConfirmed);
    // An experiment that did not decide is not waited for.
    let mut undecided = base.to_vec();
    if let What::Outcome(outcome) = &mut undecided[2].what {
        outcome.verdict = Verdict::Undecided;
    }
    let report = LogReport::of(&Log::new(&[tail("a", &undecided)], &[]));
    assert_eq!((report.due.len(), report.calibration.open), (0, 0));
}

#[test]
fn a_run_that_is_void_measured_nothing() {
    let due = predicts(5, "search.p99 in 96ms..118ms", Some("v3"));
    let one = [tail("a", &[opened(1), due])];
    let mut void = run(6, "v3", 105.0);
    void.void.push("the client was the limit".to_owned());
    assert_eq!(standing_of(&one, slice::from_ref(&void)), [Standing::Open]);
    let (entry, prediction) = one[0].predictions().next().unwrap();
    let runs = [void.clone()];
    let log = Log::new(&one, &runs);
    assert!(!is_to_be_checked(&log, &one[0], entry, prediction, &void));
    assert!(is_to_be_checked(
        &log,
        &one[0],
        entry,
        prediction,
        &run(7, "v3", 105.0)
    ));
    let target = Target::parse("search.p99").unwrap();
    assert_eq!(figure_of(&[&void], &target), None);
    // Its release was not measured before the prediction either.
    let mut early = void;
    early.began = "2026-01-02T03:04:05Z".to_owned();
    let runs = [early];
    let log = Log::new(&one, &runs);
    assert!(is_to_be_checked(
        &log,
        &one[0],
        entry,
        prediction,
        &run(7, "v3", 105.0)
    ));
}

#[test]
fn runs_from_before_the_change_are_of_another_system() {
    let due = predicts(2, "search.p99 in 96ms..118ms", None);
    // Names of branches have no order but that of time.
    let change = decided(5, Decision::Changed, Some(&due), Some("nightly"));
    let one = [tail("a", &[opened(1), due, change])];
    let runs = [
        run(3, "nightly", 440.0),
        run(4, "nightly", 441.0),
        run(6, "nightly", 105.0),
    ];
    let log = Log::new(&one, &runs);
    let (entry, prediction) = one[0].predictions().next().unwrap();
    let said = check(&log, &one[0], entry, prediction, &run(7, "nightly", 105.0));
    assert_eq!((said.verdict, said.runs.len()), (Verdict::Held, 1));
    let runs = [runs[2].clone(), run(7, "nightly", 105.0)];
    let log = Log::new(&one, &runs);
    let said = check(&log, &one[0], entry, prediction, &run(8, "nightly", 106.0));
    assert_eq!(said.runs.len(), 3);
}
