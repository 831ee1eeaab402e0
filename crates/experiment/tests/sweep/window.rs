//! The figures of a window.

use slowpath_core::sample::Outcome;
use slowpath_core::stats::settle::Ramp;
use slowpath_experiment::sweep::{ErrorRate, Told};

use crate::simulated::{MS, Next, WARMUP_NS, fair, record, window};

fn close(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 0.02,
        "found {found}, expected {expected}"
    );
}

#[test]
fn users_who_are_served_obey_littles_law_and_share_fairly() {
    let window = window(8.0, 0, &fair(8, 4), Told::default());
    close(window.per_s, 800.0);
    assert_eq!(
        (window.served(), window.failed, window.unfinished),
        (1.0, 0, 0)
    );
    let little = window.little.unwrap();
    assert!(
        !little.is_violated() && little.completed > 0.99,
        "{little:?}"
    );
    close(little.expected_ms.unwrap(), 10.0);
    close(little.mean_ms.unwrap(), 10.0);
    let fairness = window.fairness.unwrap();
    assert!(fairness.of == 8 && fairness.jain > 0.999 && !fairness.is_unfair());
    assert_eq!(window.p50_ms.value, Some(10.0));
    assert_eq!(window.dials_per_request, 0.0, "all dialled in the warm-up");
    assert_eq!(window.course.unwrap().ramp, Ramp::None);
    assert_eq!(
        (window.server_cpu, window.others_cpu),
        (None, None),
        "missing is not zero"
    );
    assert!(window.counts());
}

#[test]
fn a_storm_of_resets_is_seen_in_time_dials_and_shares() {
    // Users from 60 on are reset after 1 ms and ask again; the others are served in 10 ms.
    let storm = record(100, |user, _| {
        let served = user < 60;
        Next {
            takes_ns: if served { 10 * MS } else { MS },
            outcome: if served { Outcome::Ok } else { Outcome::Reset },
        }
    });
    let resets = storm
        .samples
        .iter()
        .filter(|s| s.outcome() == Outcome::Reset)
        .count() as u64;
    let error = ErrorRate {
        class: "reset".to_owned(),
        phase: "first-byte".to_owned(),
        errno: Some("ECONNRESET".to_owned()),
        status: None,
        count: resets,
        per_s: 0.0,
        share: 0.0,
    };
    let told = Told {
        errors: vec![error],
        ..Told::default()
    };
    let window = window(100.0, 0, &storm, told);
    close(window.failing(), 40.0 / 46.0);
    close(window.dials_per_request, 40.0 / 46.0);
    close(window.errors[0].per_s, resets as f64 / 2.0);
    let little = window.little.unwrap();
    close(little.completed, 0.6);
    close(little.failed, 0.4);
    assert!(little.is_violated());
    close(little.expected_ms.unwrap(), 100.0 / 6.0);
    let fairness = window.fairness.unwrap();
    close(fairness.never, 0.4);
    assert!(fairness.is_unfair());
}

#[test]
fn throughput_is_not_averaged_over_a_ramp() {
    // Slow until 300 ms into the window, then ten times as fast.
    let ramp = record(4, |_, at| Next {
        takes_ns: if at < WARMUP_NS + 300 * MS {
            10 * MS
        } else {
            MS
        },
        outcome: Outcome::Ok,
    });
    let window = window(4.0, 0, &ramp, Told::default());
    assert_eq!(
        window.course.unwrap().ramp,
        Ramp::Slow,
        "{:?}",
        window.course
    );
    close(window.settled_per_s.unwrap(), 4000.0);
    assert!(window.per_s < 3600.0 && window.settled_per_s.unwrap() > 3900.0);
}

#[test]
fn first_requests_are_told_from_later_ones() {
    let slow_first = record(50, |_, at| Next {
        takes_ns: if at == 0 { 300 * MS } else { 5 * MS },
        outcome: Outcome::Ok,
    });
    let first = window(50.0, 0, &slow_first, Told::default())
        .first_request
        .unwrap();
    assert_eq!(
        (first.connections, first.first_ms, first.later_ms),
        (50, 300.0, Some(5.0))
    );
}

#[test]
fn a_percentile_of_few_requests_is_refused() {
    let few = record(1, |_, _| Next {
        takes_ns: 20 * MS,
        outcome: Outcome::Ok,
    });
    let window = window(1.0, 0, &few, Told::default());
    assert_eq!(window.p50_ms.value, Some(20.0));
    assert!(window.p99_ms.value.is_none());
    assert!(window.p99_ms.reason.unwrap().contains("needs 368"));
}
