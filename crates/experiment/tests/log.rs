//! The investigation log, judged: entries and runs that are made up, so that the truth is known.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "not all that other tests make up is needed here")]

#[path = "figures/made.rs"]
mod made;
#[path = "figures/story.rs"]
mod story;

use std::slice;

use slowpath_core::figures::{HostNoise, RunFigures, Unit};
use slowpath_core::investigation::{
    BY_SLOWPATH, Decision, Entry, Investigation, Measured, Question, Target, Tested, Trial,
    Verdict, What,
};
use slowpath_experiment::log::{
    Log, LogReport, Standing, Status, benchmarks, check, figure_of, is_to_be_checked, may_close,
    reopening, status,
};
use story::{decided, entry, opened, outcome, predicts, run, standing_of, tail};

#[test]
fn a_prediction_holds_fails_or_is_not_known() {
    let prediction = predicts(2, "search.p99 in 96ms..118ms", None);
    let one = [tail("a", &[opened(1), prediction.clone()])];
    let said = |now: &RunFigures, others: &[RunFigures]| {
        let log = Log::new(&one, others);
        let (entry, prediction) = one[0].predictions().next().unwrap();
        check(&log, &one[0], entry, prediction, now)
    };
    let held = said(&run(3, "v2", 105.0), &[]);
    assert_eq!(held.verdict, Verdict::Held);
    assert!(held.text.contains("over 5 repeats"), "{}", held.text);
    let (low, high) = held.measured.unwrap().range.unwrap();
    assert!(low > 96e6 && high < 118e6);
    assert_eq!(said(&run(3, "v2", 400.0), &[]).verdict, Verdict::Failed);
    let near = said(&run(3, "v2", 118.0), &[]);
    assert_eq!(near.verdict, Verdict::Undecided);
    assert!(near.text.contains("to know it takes"), "{}", near.text);
    let mut void = run(3, "v2", 105.0);
    void.void.push("the client was the limit".to_owned());
    let void = said(&void, &[]);
    assert_eq!(
        (void.verdict, void.measured),
        (Verdict::NotComparable, None)
    );
    // Runs scatter more than the repeats of one of them: with enough they are what counts.
    let others = [run(3, "v2", 60.0), run(4, "v2", 200.0)];
    let over_runs = said(&run(5, "v2", 105.0), &others);
    assert_eq!(over_runs.verdict, Verdict::Undecided);
    assert_eq!(over_runs.runs.len(), 3);
    assert!(over_runs.text.contains("over 3 runs"), "{}", over_runs.text);
}

#[test]
fn a_host_that_was_fit_before_excuses_what_is_worse_by_no_more_than_its_timers() {
    let on = |mut run: RunFigures, score, late_ms: f64| {
        run.host = Some(HostNoise {
            score,
            late_ns: late_ms * 1e6,
        });
        run
    };
    let said = |reference: RunFigures, now: RunFigures| {
        let mut prediction = predicts(2, "search.p99 in 96ms..118ms", None);
        prediction.runs = vec![reference.id.clone()];
        let one = [tail("a", &[opened(1), prediction])];
        let runs = [reference];
        let log = Log::new(&one, &runs);
        let (entry, prediction) = one[0].predictions().next().unwrap();
        let said = check(&log, &one[0], entry, prediction, &now);
        (said.verdict, said.text)
    };
    let fit = on(run(1, "v1", 440.0), 95, 0.1);
    let (verdict, text) = said(fit.clone(), on(run(3, "v2", 130.0), 30, 25.0));
    assert_eq!(verdict, Verdict::Undecided);
    assert!(text.contains("scored 30 of 100"), "{text}");
    for (reference, now) in [
        // Timers are late by less than that.
        (fit.clone(), on(run(3, "v2", 400.0), 30, 25.0)),
        // It is better than predicted.
        (fit.clone(), on(run(3, "v2", 40.0), 30, 200.0)),
        // It was no better when it was predicted.
        (
            on(run(1, "v1", 440.0), 30, 25.0),
            on(run(3, "v2", 130.0), 30, 25.0),
        ),
        (fit.clone(), on(run(3, "v2", 130.0), 80, 25.0)),
        (fit, run(3, "v2", 130.0)),
    ] {
        assert_eq!(said(reference, now).0, Verdict::Failed);
    }
}

#[test]
fn what_was_measured_in_another_way_is_no_test() {
    let reference = run(1, "v1", 440.0);
    let mut prediction = predicts(2, "search.p99 in 96ms..118ms", None);
    prediction.runs = vec![reference.id.clone()];
    let one = [tail("a", &[opened(1), prediction])];
    let mut other = run(3, "v2", 105.0);
    other
        .conditions
        .harness
        .insert("rate".to_owned(), "50/s".to_owned());
    let runs = [reference, other.clone()];
    let log = Log::new(&one, &runs);
    let (entry, prediction) = one[0].predictions().next().unwrap();
    let said = check(&log, &one[0], entry, prediction, &other);
    assert_eq!(said.verdict, Verdict::NotComparable);
    assert!(said.text.contains("other harness (rate)"), "{}", said.text);
    let alike = check(&log, &one[0], entry, prediction, &run(4, "v2", 105.0));
    assert_eq!(alike.verdict, Verdict::Held);
    assert!(!alike.text.contains("not known"), "{}", alike.text);
    // Where the run is not stored, it is not known.
    let log = Log::new(&one, &[]);
    let unknown = check(&log, &one[0], entry, prediction, &run(4, "v2", 105.0));
    assert_eq!(
        (unknown.verdict, unknown.measured),
        (Verdict::NotComparable, None)
    );
    assert!(unknown.text.contains("not stored here"), "{}", unknown.text);
}

#[test]
fn only_what_comes_after_a_prediction_tests_it() {
    let asked = |entries: &[Entry], runs: &[RunFigures], now: &RunFigures| {
        let one = [tail("a", entries)];
        let mut runs = runs.to_vec();
        runs.push(now.clone());
        let log = Log::new(&one, &runs);
        let (entry, prediction) = one[0].predictions().next().unwrap();
        is_to_be_checked(&log, &one[0], entry, prediction, now)
    };
    let that = "search.p99 in 96ms..118ms";
    let bare = predicts(5, that, None);
    let plain = [opened(1), bare.clone()];
    assert!(asked(&plain, &[], &run(6, "v2", 105.0)));
    assert!(
        !asked(&plain, &[], &run(4, "v2", 105.0)),
        "measured before it was predicted"
    );
    assert!(
        !asked(&plain, &[run(3, "v1", 440.0)], &run(6, "v1", 440.0)),
        "the release that it was predicted on"
    );
    let mut nameless = run(6, "v2", 105.0);
    nameless.release = None;
    assert!(!asked(&plain, &[], &nameless));
    let mut other = run(6, "v2", 105.0);
    other.name = "cart".to_owned();
    assert!(!asked(&plain, &[], &other));
    // Due in v3: what comes before is no test, what comes after is.
    let due = [opened(1), predicts(5, that, Some("v3"))];
    for (release, expected) in [
        ("v2.9", false),
        ("v3", true),
        ("v3.0.1", true),
        ("v10", true),
    ] {
        assert_eq!(
            asked(&due, &[], &run(6, release, 105.0)),
            expected,
            "{release}"
        );
    }
    // The change came earlier than it was due, and in a release of its own.
    let change = decided(6, Decision::Changed, Some(&bare), Some("v2.5"));
    let changed = [opened(1), bare.clone(), change];
    for (release, expected) in [("v2.4", false), ("v2.5", true), ("v3", true)] {
        assert_eq!(
            asked(&changed, &[], &run(7, release, 105.0)),
            expected,
            "{release}"
        );
    }
    // A commit has no order but that of time.
    assert!(asked(&changed, &[], &run(7, "1f3ab9", 105.0)));
    let told = outcome(7, &bare, "v2", Verdict::Held);
    assert!(!asked(
        &[opened(1), bare.clone(), told],
        &[],
        &run(8, "v3", 105.0)
    ));
    let told = outcome(7, &bare, "v2", Verdict::Undecided);
    assert!(asked(&[opened(1), bare, told], &[], &run(8, "v3", 105.0)));
}

#[test]
fn what_is_due_and_was_not_settled_is_overdue() {
    let due = predicts(5, "search.p99 in 96ms..118ms", Some("v3"));
    let one = [tail("a", &[opened(1), due.clone()])];
    assert_eq!(standing_of(&one, &[run(6, "v2", 1.0)]), [Standing::Open]);
    assert_eq!(standing_of(&one, &[run(6, "v3", 1.0)]), [Standing::Overdue]);
    assert_eq!(
        standing_of(&one, &[run(6, "v3.1", 1.0)]),
        [Standing::Overdue]
    );
    let report = LogReport::of(&Log::new(&one, &[run(6, "v3.1", 1.0)]));
    assert_eq!(report.due[0].overdue_since.as_deref(), Some("v3.1"));
    assert_eq!(report.calibration.overdue, 1);
    let held = tail(
        "a",
        &[
            opened(1),
            due.clone(),
            outcome(6, &due, "v3", Verdict::Held),
        ],
    );
    assert_eq!(standing_of(&[held], &[]), [Standing::Held]);
    // Without any run the outcomes of others show which releases there were.
    let other = predicts(2, "search.p50 in 1ms..2ms", None);
    let told = outcome(7, &other, "v4", Verdict::Failed);
    let both = tail("a", &[opened(1), other, due.clone(), told]);
    assert_eq!(
        standing_of(&[both], &[]),
        [Standing::Failed, Standing::Overdue]
    );
    let dropped = decided(8, Decision::NotFixed, None, None);
    let closed = tail("a", &[opened(1), due, dropped]);
    assert_eq!(
        standing_of(&[closed], &[run(9, "v3", 1.0)]),
        [Standing::Dropped]
    );
}

#[test]
fn a_status_follows_from_the_entries() {
    let due = predicts(2, "search.p99 in 96ms..118ms", None);
    let base = [opened(1), due.clone()];
    let of = |more: &[Entry]| {
        let entries: Vec<Entry> = base.iter().chain(more).cloned().collect();
        status(&tail("a", &entries)).0
    };
    assert_eq!(of(&[]), Status::Open);
    let changed = decided(3, Decision::Changed, None, None);
    assert_eq!(of(&[changed]), Status::Open);
    let fixed = decided(5, Decision::Fixed, None, None);
    assert_eq!(of(slice::from_ref(&fixed)), Status::FixedUnconfirmed);
    let failed = outcome(4, &due, "v2", Verdict::Failed);
    assert_eq!(
        of(&[failed.clone(), fixed.clone()]),
        Status::FixedUnconfirmed
    );
    let held = outcome(6, &due, "v3", Verdict::Held);
    assert_eq!(
        of(&[failed, fixed.clone(), held.clone()]),
        Status::FixedAndConfirmed
    );
    let again = entry(7, What::Reopening);
    assert_eq!(of(&[fixed, held, again]), Status::Open);
    for (decision, expected) in [
        (Decision::Explained, Status::Explained),
        (Decision::NotFixed, Status::NotFixed),
        (Decision::Refuted, Status::Refuted),
    ] {
        assert_eq!(of(&[decided(3, decision, None, None)]), expected);
    }
}

#[test]
fn a_fix_that_did_not_move_its_target_is_open_again() {
    let due = predicts(2, "search.p99 in 96ms..118ms", None);
    let fixed = decided(3, Decision::Fixed, None, None);
    let said = |entries: &[Entry], ms: f64| {
        let one = [tail("a", entries)];
        let log = Log::new(&one, &[]);
        let (entry, prediction) = one[0].predictions().next().unwrap();
        let now = run(9, "v9", ms);
        assert!(is_to_be_checked(&log, &one[0], entry, prediction, &now));
        let checked = check(&log, &one[0], entry, prediction, &now);
        reopening(&one[0], &entry.id, prediction, &checked)
    };
    let closed = [opened(1), due.clone(), fixed.clone()];
    let why = said(&closed, 440.0).unwrap();
    assert!(
        why.contains("did not move its target") && why.contains("440 ms"),
        "{why}"
    );
    assert_eq!(said(&closed, 105.0), None);
    assert_eq!(said(&[opened(1), due.clone()], 440.0), None, "it is open");
    // What held once is watched as long as it counts as fixed.
    let held = outcome(4, &due, "v2", Verdict::Held);
    let why = said(&[opened(1), due, fixed, held], 440.0).unwrap();
    assert!(why.starts_with("what was fixed is back"), "{why}");
}

#[test]
fn two_changes_under_one_measurement_are_confounded() {
    let due = predicts(2, "search.p99 in 96ms..118ms", None);
    let own = decided(3, Decision::Changed, Some(&due), Some("v2"));
    let held = outcome(6, &due, "v2", Verdict::Held);
    let one = tail("a", &[opened(1), due.clone(), own, held]);
    let confounded = |investigations: &[Investigation], runs: &[RunFigures]| {
        let report = LogReport::of(&Log::new(investigations, runs));
        let all = report.investigations.iter().flat_map(|one| &one.entries);
        let found = all.map(|entry| entry.confounded_by.len()).max().unwrap();
        (found, report.calibration)
    };
    let before = run(1, "v1", 440.0);
    let runs = [before, run(5, "v2", 105.0)];
    let (found, calibration) = confounded(slice::from_ref(&one), &runs);
    assert_eq!((found, calibration.predictions.hits), (0, 1));
    // The other change is in another investigation of the same scenario.
    let in_release = |release| {
        let mut other = decided(4, Decision::Changed, None, release);
        other.text = "Something else.".to_owned();
        tail("b", &[opened(1), other])
    };
    let (found, calibration) = confounded(&[one.clone(), in_release(Some("v2"))], &runs);
    assert_eq!(found, 2);
    assert_eq!((calibration.predictions.of, calibration.confounded), (0, 1));
    // In the same words and of the same release it is the same change.
    let same = decided(4, Decision::Changed, None, Some("v2"));
    let same = tail("b", &[opened(1), same]);
    assert_eq!(confounded(&[one.clone(), same], &runs).0, 0);
    // Without a release it is in what was measured next; in a later one it is not there yet.
    assert_eq!(confounded(&[one.clone(), in_release(None)], &runs).0, 2);
    assert_eq!(
        confounded(&[one.clone(), in_release(Some("v3"))], &runs).0,
        0,
        "not yet measured"
    );
    let later = [runs[0].clone(), runs[1].clone(), run(8, "v3", 105.0)];
    assert_eq!(
        confounded(&[one.clone(), in_release(Some("v3"))], &later).0,
        0
    );
    // What was measured before the prediction is part of what it was made on.
    assert_eq!(confounded(&[one, in_release(Some("v1"))], &runs).0, 0);
}

#[test]
fn calibration_counts_what_was_settled_and_what_was_confirmed() {
    let mut all = Vec::new();
    for at in 0..4_usize {
        let mut due = predicts(2, "search.p99 in 100ms..120ms", None);
        due.by = (at == 0).then(|| BY_SLOWPATH.to_owned());
        let verdict = if at < 3 {
            Verdict::Held
        } else {
            Verdict::Failed
        };
        let told = outcome(4, &due, "v2", verdict);
        let later = outcome(5, &due, "v3", Verdict::Failed);
        all.push(tail(&format!("a{at}"), &[opened(1), due, told, later]));
    }
    let open = predicts(2, "search.p99 in 100ms..120ms", None);
    all.push(tail("b", &[opened(1), open]));
    let tried = predicts(2, "search.p99 in 100ms..120ms", None);
    let refuted = Trial {
        of: Some(tried.id.clone()),
        verdict: Some(Tested::Refuted),
    };
    let trial = entry(3, What::Experiment(refuted));
    all.push(tail("c", &[opened(1), tried, trial]));
    let report = LogReport::of(&Log::new(&all, &[]));
    let calibration = report.calibration;
    assert_eq!(
        (calibration.predictions.hits, calibration.predictions.of),
        (3, 4)
    );
    assert_eq!(
        (calibration.by_slowpath.hits, calibration.by_slowpath.of),
        (1, 1)
    );
    assert_eq!(
        (calibration.by_people.hits, calibration.by_people.of),
        (2, 3)
    );
    assert!(calibration.predictions.low < 0.4 && calibration.predictions.high > 0.9);
    assert!((calibration.width.unwrap() - 1.2).abs() < 1e-9);
    assert_eq!((calibration.open, calibration.overdue), (2, 0));
    // Three held, one was refuted by an experiment; a failed prediction refutes no cause.
    assert_eq!((calibration.causes.hits, calibration.causes.of), (3, 4));
    assert_eq!(calibration.causes_open, 2);
}

#[test]
fn an_explanation_answers_both_questions_or_none() {
    let answers = |day: usize, answers: &[Question]| {
        let mut due = predicts(day, "search.p99 in 96ms..118ms", None);
        if let What::Hypothesis(hypothesis) = &mut due.what {
            hypothesis.answers = answers.to_vec();
        }
        due
    };
    let close = |entries: &[Entry], decision| may_close(&tail("a", entries), decision);
    assert!(close(&[opened(1), answers(2, &[])], Decision::Explained).is_ok());
    let half = [opened(1), answers(2, &[Question::When])];
    let (what, _) = close(&half, Decision::Explained).unwrap_err();
    assert!(what.contains("how-much"), "{what}");
    assert!(close(&half, Decision::NotFixed).is_ok());
    let both = [
        opened(1),
        answers(2, &[Question::When]),
        answers(3, &[Question::HowMuch]),
    ];
    assert!(close(&both, Decision::Fixed).is_ok());
    let closed = [opened(1), decided(2, Decision::Refuted, None, None)];
    assert!(close(&closed, Decision::Fixed).is_err());
}

#[test]
fn a_prediction_of_something_worse_says_so_and_what_is_left_is_told() {
    let worse = predicts(2, "search.p99 in 500ms..600ms", None);
    let better = predicts(3, "search.p99 in 50ms..80ms", None);
    let mut held = outcome(4, &better, "v2", Verdict::Held);
    if let What::Outcome(outcome) = &mut held.what {
        outcome.measured = Some(Measured {
            unit: Unit::Ns,
            value: 62e6,
            range: None,
        });
    }
    let one = [tail("a", &[opened(1), worse, better, held])];
    let report = LogReport::of(&Log::new(&one, &[]));
    let entries = &report.investigations[0].entries;
    let is_worse = |at: usize| entries[at].prediction.as_ref().unwrap().is_regression;
    assert!(is_worse(1) && !is_worse(2));
    assert_eq!(
        entries[3].residual,
        "explains 378ms of 440ms; 62ms are left"
    );
}

#[test]
fn a_symptom_has_the_figure_of_its_runs() {
    let runs = [run(1, "v1", 440.0), run(2, "v1", 450.0)];
    let runs: Vec<&RunFigures> = runs.iter().collect();
    let target = Target::parse("search.p99").unwrap();
    let figure = figure_of(&runs, &target).unwrap();
    assert_eq!(figure.unit, Unit::Ns);
    assert!((figure.value - 445e6).abs() < 1e6 && figure.range.is_some());
    assert_eq!(figure_of(&runs, &Target::parse("cart.p99").unwrap()), None);
}

#[test]
fn tables_say_where_they_are_not_comparable() {
    let mut elsewhere = run(3, "v2", 105.0);
    elsewhere
        .conditions
        .host
        .insert("hostname".to_owned(), "other".to_owned());
    let mut void = run(4, "v3", 105.0);
    void.void.push("clock-jump".to_owned());
    let runs = [
        run(1, "v1", 440.0),
        run(2, "v1", 450.0),
        elsewhere,
        void,
        run(5, "v3", 104.0),
    ];
    let made = benchmarks(&runs);
    assert_eq!(made.settings.len(), 1);
    let releases = &made.settings[0].releases;
    let labels: Vec<&str> = releases.iter().map(|one| one.label.as_str()).collect();
    assert_eq!(labels, ["v3", "v3", "v2", "v1"]);
    assert_eq!(releases[3].runs.len(), 2);
    assert_eq!(releases[3].rows[0].n, Some(100_000));
    assert_eq!(releases[2].obstacles, ["other host (hostname)"]);
    assert_eq!(releases[1].void, ["clock-jump"]);
    assert_eq!(releases[0].before.as_deref(), Some("v2"));
    assert_eq!(releases[0].obstacles, ["other host (hostname)"]);
}
