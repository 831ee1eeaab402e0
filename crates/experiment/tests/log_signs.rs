//! What a run shows by itself, and where in the log it belongs: histories that are made up, so
//! that the truth is known.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "not all that other tests make up is needed here")]

#[path = "figures/made.rs"]
mod made;

use std::slice;

use made::{Noise, failure, latencies};
use slowpath_core::figures::RunFigures;
use slowpath_core::investigation::{
    Decided, Decision, Entry, Investigation, Sign, Symptom, Target, What,
};
use slowpath_experiment::history::{Ask, history};
use slowpath_experiment::log::{Log, Noticed, Step, noticed, step};

/// Twelve releases of a scenario around 10 ms, the last at `last` times that.
fn releases(last: f64) -> Vec<RunFigures> {
    let mut noise = Noise::new(7);
    let made = (0..12).map(|at| {
        let level = if at == 11 { 10.0 * last } else { 10.0 };
        let repeats: Vec<f64> = (0..5).map(|_| noise.around(level, 0.01)).collect();
        let mut run = latencies(at, &[("search.p99", &repeats)]);
        run.release = Some(format!("v{at}"));
        run
    });
    made.collect()
}

/// What the log does with all that the last of some runs shows.
fn steps(investigations: &[Investigation], runs: &[RunFigures]) -> Vec<(Sign, Step)> {
    let history = history(runs, &Ask::default());
    let own = runs.last().unwrap();
    let log = Log::new(investigations, runs);
    let all: Vec<Noticed<'_>> = noticed(&history, own, &own.failures);
    let of = |one: &Noticed<'_>| (one.what.sign(), step(&log, one, own));
    all.iter().map(of).collect()
}

fn entry(what: What, sign: Option<Sign>, runs: &[RunFigures]) -> Entry {
    Entry {
        id: "01JE0000000000000000000001".to_owned(),
        at: "2026-01-01T00:00:00Z".to_owned(),
        by: None,
        text: "x".to_owned(),
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        links: Vec::new(),
        figures: Vec::new(),
        sign,
        what,
    }
}

fn about(metric: &str, more: Vec<Entry>) -> Investigation {
    let symptom = Symptom {
        title: "t".to_owned(),
        scenario: "shop".to_owned(),
        metric: Target::parse(metric).unwrap(),
        since: None,
        measured: None,
    };
    let mut entries = vec![entry(What::Opened(symptom), None, &[])];
    entries.extend(more);
    Investigation {
        id: "mine".to_owned(),
        entries,
    }
}

fn closed(decision: Decision) -> Entry {
    let decided = Decided {
        decision,
        of: None,
        release: None,
    };
    entry(What::Decision(decided), None, &[])
}

#[test]
fn a_healthy_history_enters_nothing() {
    assert_eq!(steps(&[], &releases(1.0)), []);
}

#[test]
fn a_figure_outside_of_its_history_opens_an_investigation_or_is_added_to_one() {
    let runs = releases(1.5);
    let last = slice::from_ref(&runs[11]);
    let open = Step::Open("shop-search-p99".to_owned());
    assert_eq!(steps(&[], &runs), [(Sign::Novelty, open.clone())]);
    let mine = || "mine".to_owned();
    let own = about("search.p99", Vec::new());
    assert_eq!(steps(&[own], &runs), [(Sign::Novelty, Step::Add(mine()))]);
    let told = entry(What::Observation, Some(Sign::Novelty), last);
    let own = about("search.p99", vec![told]);
    assert_eq!(steps(&[own], &runs), [(Sign::Novelty, Step::Nothing)]);
    // What is known and stays is known; what was fixed is back.
    for (decision, expected) in [
        (Decision::NotFixed, Step::Nothing),
        (Decision::Explained, Step::Nothing),
        (Decision::Fixed, Step::Reopen(mine())),
    ] {
        let own = about("search.p99", vec![closed(decision)]);
        assert_eq!(steps(&[own], &runs), [(Sign::Novelty, expected)]);
    }
    // One about another figure is another one.
    let other = about("search.p50", Vec::new());
    assert_eq!(steps(&[other], &runs), [(Sign::Novelty, open)]);
    // Faster than ever is no trouble.
    assert_eq!(steps(&[], &releases(0.6)), []);
}

#[test]
fn failures_that_nothing_explains_open_an_investigation_once() {
    let mut runs = releases(1.0);
    let own = runs.last_mut().unwrap();
    failure(own, "search", "reset in first-byte", 3);
    failure(own, "search", "timeout in first-byte", 1);
    let open = Step::Open("shop-search-errors".to_owned());
    assert_eq!(steps(&[], &runs), [(Sign::Errors, open)]);
    let mut taken = about("cart.p99", Vec::new());
    taken.id = "shop-search-errors".to_owned();
    let open = Step::Open("shop-search-errors-2".to_owned());
    assert_eq!(steps(&[taken], &runs), [(Sign::Errors, open)]);
}

#[test]
fn rows_that_fail_in_the_same_way_are_one_thing() {
    let mut runs = releases(1.0);
    let own = runs.last_mut().unwrap();
    failure(own, "search", "timeout in first-byte", 3);
    failure(own, "cart", "timeout in first-byte", 9);
    failure(own, "pay", "status 500 in check", 1);
    let open = |name: &str| (Sign::Errors, Step::Open(name.to_owned()));
    assert_eq!(
        steps(&[], &runs),
        [open("shop-cart-errors"), open("shop-pay-errors")]
    );
    // Next time the other one fails most.
    let known = about("search.errors", Vec::new());
    let add = (Sign::Errors, Step::Add("mine".to_owned()));
    assert_eq!(steps(&[known], &runs), [add, open("shop-pay-errors")]);
    // The tail of a row that fails is something else.
    let tail = about("search.p99", Vec::new());
    assert_eq!(steps(&[tail], &runs)[0], open("shop-cart-errors"));
}

#[test]
fn of_several_that_are_closed_the_last_one_counts_and_not_the_name() {
    let runs = releases(1.5);
    let at = |id: &str, decision, day: u8| {
        let mut one = about("search.p99", vec![closed(decision)]);
        id.clone_into(&mut one.id);
        for entry in &mut one.entries {
            entry.at = format!("2026-01-{day:02}T00:00:00Z");
        }
        one
    };
    let early_fix = [at("b", Decision::Fixed, 1), at("a", Decision::NotFixed, 2)];
    assert_eq!(steps(&early_fix, &runs), [(Sign::Novelty, Step::Nothing)]);
    let late_fix = [at("b", Decision::NotFixed, 1), at("a", Decision::Fixed, 2)];
    let reopened = Step::Reopen("a".to_owned());
    assert_eq!(steps(&late_fix, &runs), [(Sign::Novelty, reopened)]);
    // One that is open is added to, the newest of several.
    let open = |id: &str, day: u8| {
        let mut one = at(id, Decision::Fixed, day);
        one.entries.truncate(1);
        one
    };
    let both = [open("b", 2), open("c", 1)];
    let added = Step::Add("b".to_owned());
    assert_eq!(steps(&both, &runs), [(Sign::Novelty, added)]);
}
