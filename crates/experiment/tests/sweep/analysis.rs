//! What windows say together, and which level is measured next.

use slowpath_core::sample::Outcome;
use slowpath_experiment::sweep::{
    Dimension, ErrorRate, Refinement, ThresholdKind, Told, Why, Window, analyse, refine,
};

use crate::simulated::{MS, Next, fair, record, window};

const LEVELS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

fn told(failed: u64) -> Told {
    let error = ErrorRate {
        class: "closed".to_owned(),
        phase: "first-byte".to_owned(),
        errno: None,
        status: None,
        count: failed,
        per_s: 0.0,
        share: 0.0,
    };
    Told {
        errors: vec![error],
        ..Told::default()
    }
}

/// A server of `capacity` users at a time that closes on every user beyond `limit`.
fn limited(level: u32, repeat: u32, capacity: u32, limit: u32) -> Window {
    let takes_ns = 5 * MS * u64::from(level.min(limit).max(capacity)) / u64::from(capacity);
    let run = record(level, |user, _| {
        let served = user < limit;
        Next {
            takes_ns: if served { takes_ns } else { 5 * MS },
            outcome: if served { Outcome::Ok } else { Outcome::Closed },
        }
    });
    let measured = run.samples.iter().filter(|s| s.outcome().is_error());
    let failed = measured.count() as u64;
    window(f64::from(level), repeat, &run, told(failed))
}

fn all(of: impl Fn(u32, u32) -> Window) -> Vec<Window> {
    (0..3)
        .flat_map(|repeat| LEVELS.map(|level| of(level, repeat)))
        .collect()
}

#[test]
fn the_knee_is_where_users_stop_being_scarce() {
    let windows =
        all(|level, repeat| window(f64::from(level), repeat, &fair(level, 10), Told::default()));
    let found = analyse(Dimension::Connections, &windows, 1);
    let knee = found.knee.unwrap();
    assert!((knee.at - 10.0).abs() < 0.5, "{knee:?}");
    assert_eq!(knee.reached_at, 16.0);
    // Kneedle marks a level that was measured, next to it.
    assert!(
        matches!(found.bend_at, Some(8.0 | 16.0)),
        "{:?}",
        found.bend_at
    );
    let usl = found.usl.unwrap();
    assert!((usl.law.lambda / 200.0 - 1.0).abs() < 0.3, "{usl:?}");
    assert!(usl.sigma.0 <= usl.law.sigma && usl.law.sigma <= usl.sigma.1);
    assert!(found.thresholds.is_empty() && found.split.is_empty());
}

#[test]
fn without_a_plateau_there_is_no_knee() {
    let windows = all(|level, repeat| {
        window(
            f64::from(level),
            repeat,
            &fair(level, 1000),
            Told::default(),
        )
    });
    let found = analyse(Dimension::Connections, &windows, 1);
    assert_eq!((found.knee, found.bend_at), (None, None));
    assert_eq!(found.usl.unwrap().law.peak_at, None);
}

#[test]
fn a_limit_of_connections_is_a_threshold_and_refinement_closes_in_on_it() {
    let mut windows = all(|level, repeat| limited(level, repeat, 10, 50));
    let mut done: Vec<Refinement> = Vec::new();
    for _ in 0..6 {
        let Some(next) = refine(Dimension::Connections, &windows, &done) else {
            break;
        };
        windows.extend((0..3).map(|repeat| limited(next.level as u32, repeat, 10, 50)));
        done.push(next);
    }
    let at_threshold = |r: &&Refinement| r.why == Why::Threshold(ThresholdKind::Errors);
    assert!(done.iter().filter(at_threshold).count() >= 3, "{done:?}");
    let found = analyse(Dimension::Connections, &windows, 1);
    let (_, errors) = found
        .thresholds
        .iter()
        .find(|(kind, _)| *kind == ThresholdKind::Errors)
        .unwrap();
    assert!((48.0..=54.0).contains(&errors.at), "{errors:?}");
    assert!(
        errors.low <= 50.0 && errors.high.unwrap() >= 50.5,
        "{errors:?}"
    );
    let beyond = found.levels.iter().find(|l| l.level == 128.0).unwrap();
    assert!(beyond.little_violated == 3 && beyond.failing() > 0.5);
    assert!(found.knee.unwrap().plateau_level <= 64.0);
}

#[test]
fn stuck_runs_are_a_mode_with_its_probability() {
    let run = |repeat: u32| {
        let takes_ns = if repeat.is_multiple_of(5) {
            500 * MS
        } else {
            MS
        };
        record(4, |_, _| Next {
            takes_ns,
            outcome: Outcome::Ok,
        })
    };
    let windows: Vec<Window> = (0..10)
        .map(|repeat| window(4.0, repeat, &run(repeat), Told::default()))
        .collect();
    let found = analyse(Dimension::Connections, &windows, 1);
    let split = &found.split[0];
    assert_eq!(split.modes.len(), 2);
    assert_eq!(
        (split.modes[1].runs.as_slice(), split.modes[1].share),
        (&[0, 5][..], 0.2)
    );
    assert!((split.comparison.from - 0.2).abs() < 1e-9);
    assert!(split.comparison.runs_each.unwrap() > 30);
}

#[test]
fn windows_in_which_the_client_was_the_limit_are_in_no_fit() {
    let limited = |level: u32, repeat| {
        let limit = (level > 16).then(|| "the loop never rests".to_owned());
        let told = Told {
            client_limited: limit,
            ..Told::default()
        };
        // Beyond 16 the client loses half of what there would be.
        let takes_ns = if level > 16 {
            3 * MS * u64::from(level) / 10
        } else {
            MS
        };
        let run = record(level, |_, _| Next {
            takes_ns,
            outcome: Outcome::Ok,
        });
        window(f64::from(level), repeat, &run, told)
    };
    let found = analyse(Dimension::Connections, &all(limited), 1);
    assert_eq!(found.client_limited, 9);
    assert_eq!(found.knee, None, "what counts grows to the end");
    assert!(found.usl_refused.unwrap().contains("needs 6 levels"));
    assert!(found.thresholds.is_empty());
}

#[test]
fn nothing_measured_is_an_empty_answer() {
    let found = analyse(Dimension::Rate, &[], 1);
    assert!(found.levels.is_empty() && found.knee.is_none() && found.usl.is_none());
    assert_eq!(refine(Dimension::Rate, &[], &[]), None);
}

#[test]
fn what_other_processes_did_is_not_the_targets_doing() {
    let run = |repeat: u32, slow: bool, others: f64, waited: f64| {
        let takes_ns = if slow { 50 * MS } else { 5 * MS };
        let run = record(4, |_, _| Next {
            takes_ns,
            outcome: Outcome::Ok,
        });
        let mut window = window(4.0, repeat, &run, Told::default());
        (window.others_cpu, window.waited_cpu) = (Some(others), Some(waited));
        window
    };
    let of = |windows: &[Window]| {
        let found = analyse(Dimension::Connections, windows, 1);
        (
            found.levels[0].windows,
            found.levels[0].disturbed,
            found.split.len(),
        )
    };
    let quiet = |repeat| run(repeat, false, 0.3, 0.1);
    let held_up = run(1, true, 1.4, 0.8);
    assert_eq!(of(&[quiet(0), held_up, quiet(2)]), (2, 1, 0));
    let stuck = run(1, true, 1.4, 0.05);
    let left_to_others = of(&[quiet(0), stuck, quiet(2)]);
    assert_eq!(left_to_others, (3, 0, 1), "it left its CPU to others");
    let overloaded = run(1, true, 0.3, 3.0);
    let own = of(&[quiet(0), overloaded, quiet(2)]);
    assert_eq!(own, (3, 0, 1), "it waited for itself");
    let hidden = Window {
        waited_cpu: None,
        ..run(1, true, 1.4, 0.8)
    };
    assert_eq!(of(&[quiet(0), hidden, quiet(2)]), (3, 0, 1));
}

#[test]
fn a_threshold_beyond_the_levels_is_not_told() {
    // Of the windows at the highest level, one of three fails.
    let windows = all(|level, repeat| {
        let limit = if repeat == 0 { 100 } else { 1000 };
        limited(level, repeat, 10, limit)
    });
    let found = analyse(Dimension::Connections, &windows, 1);
    assert!(found.levels[7].failing() > 0.01, "{:?}", found.levels[7]);
    assert!(found.thresholds.is_empty(), "{:?}", found.thresholds);
}
