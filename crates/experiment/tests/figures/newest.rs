//! What is said of the newest release, and only where it is shown.

use slowpath_core::figures::RunFigures;
use slowpath_experiment::compare::Verdict;
use slowpath_experiment::history::{Ask, Course, Track, history};

use crate::made::{Noise, latencies};

/// The track of releases of one run with one repeat each.
fn track(values: &[f64]) -> Track {
    let run = |(at, &ms): (usize, &f64)| RunFigures {
        release: Some(format!("v{}", at + 1)),
        ..latencies(at, &[("e.p50", &[ms])])
    };
    let runs: Vec<RunFigures> = values.iter().enumerate().map(run).collect();
    let mut settings = history(&runs, &Ask::default()).settings;
    settings.swap_remove(0).tracks.swap_remove(0)
}

fn verdict(values: &[f64]) -> Verdict {
    track(values).newest.unwrap().verdict
}

/// Scatter of some 1 %.
const QUIET: [f64; 10] = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0];

fn then(more: &[f64]) -> Vec<f64> {
    QUIET.iter().chain(more).copied().collect()
}

/// `n` values that climb by `share` each, with scatter that has no trend.
fn climb(n: usize, level: f64, share: f64) -> impl Iterator<Item = f64> {
    let scatter = |at: usize| 1.0 + 0.004 * ((at * 7 % 5) as f64 - 2.0);
    (0..n).map(move |at| level * (1.0 + share * at as f64) * scatter(at))
}

#[test]
fn as_before_is_not_what_merely_could_not_be_excluded() {
    // +60 %, within where a further one of such a scatter lies.
    assert_eq!(verdict(&[1.0, 1.2, 0.8, 1.1, 1.6]), Verdict::CannotTell);
    let noisy = [1.0, 1.2, 0.8, 1.1, 0.9, 1.15, 0.85, 1.0, 1.05, 1.4];
    assert_eq!(verdict(&noisy), Verdict::CannotTell);
    assert_eq!(verdict(&then(&[1.0])), Verdict::Same);
}

#[test]
fn a_step_in_the_newest_releases_is_told_of_the_newest() {
    for after in [&[1.3, 1.31][..], &[1.3, 1.31, 1.3]] {
        let found = track(&then(after));
        assert_eq!(found.changes.len(), 1);
        let newest = found.newest.unwrap();
        assert_eq!(newest.verdict, Verdict::Worse, "{newest:?}");
    }
    // From five on they are a level of their own, and the newest is like it.
    let settled = then(&[1.3, 1.31, 1.3, 1.29, 1.31, 1.3, 1.3]);
    assert_eq!(verdict(&settled), Verdict::Same);
    assert_eq!(verdict(&then(&[1.3])), Verdict::Worse);
    assert_eq!(verdict(&then(&[0.7, 0.71])), Verdict::Better);
}

#[test]
fn a_drift_after_a_step_is_told() {
    let mut values: Vec<f64> = climb(10, 1.0, 0.0).collect();
    values.extend(climb(15, 0.5, 0.015));
    let found = track(&values);
    let Course::Drifting { ratio, .. } = found.course else {
        panic!("{:?} {:?}", found.course, found.changes);
    };
    assert!((ratio - 1.21).abs() < 0.03, "{ratio}");
    let places: Vec<u64> = found.changes.iter().map(|change| change.at).collect();
    assert_eq!(places, [10], "{:?}", found.changes);
    assert_eq!(found.newest.unwrap().verdict, Verdict::Worse);
}

#[test]
fn fewer_than_eight_releases_have_no_verdict() {
    for values in [
        &[1.0, 1.001, 0.999, 1.0, 1.12][..],
        &[1.0, 1.001, 0.999, 1.0, 1.001, 1.0, 1.12],
        &[1.0, 1.001, 0.999, 1.0, 1.0],
    ] {
        let newest = track(values).newest.unwrap();
        assert_eq!(newest.verdict, Verdict::CannotTell, "{newest:?}");
        assert_eq!(newest.p, None);
    }
}

#[test]
fn histories_of_one_level_rarely_claim_anything() {
    let mut noise = Noise::new(5);
    let reps = 100;
    let (mut wrong, mut shown) = (0, 0);
    for _ in 0..reps {
        let values: Vec<f64> = (0..20).map(|_| noise.around(1.0, 0.015)).collect();
        let found = track(&values);
        let newest = found.newest.unwrap().verdict;
        let is_claim = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
        let is_changed = found.changes.iter().any(|change| is_claim(change.verdict));
        let is_drift = matches!(found.course, Course::Drifting { .. });
        wrong += u32::from(is_claim(newest) || is_changed || is_drift);
        shown += u32::from(newest == Verdict::Same);
    }
    // 1 % for the search and 1 % for the newest: more than 7 of 100 would have a chance of 0.1 %.
    assert!(wrong <= 7, "{wrong} of {reps}");
    // What is quiet enough is said to be as before.
    assert!(shown > reps / 2, "{shown} of {reps}");
}
