//! Stalls and the clock on the wall.

use slowpath_core::stats::wall::on_the_clock;

use super::grids::Noise;

const SECOND: f64 = 1e9;
/// A midnight, in seconds since the epoch.
const MIDNIGHT_S: f64 = 1_763_683_200.0;

/// Stalls every `period_s` in repeats that begin so many seconds after midnight, with the phase
/// that each repeat has.
fn repeats(period_s: f64, of: &[(f64, f64)], jitter_s: f64) -> Vec<(u64, Vec<u64>)> {
    let mut noise = Noise::new(11);
    of.iter()
        .map(|&(begin_s, phase_s)| {
            let first = (begin_s / period_s).ceil() * period_s + phase_s;
            let stalls = (0..8)
                .map(|n| first + f64::from(n) * period_s + jitter_s * noise.normal())
                .map(|at_s| ((MIDNIGHT_S + at_s) * SECOND) as u64)
                .collect();
            (((MIDNIGHT_S + begin_s) * SECOND) as u64, stalls)
        })
        .collect()
}

#[test]
fn a_job_at_each_full_minute_keeps_to_the_wall() {
    let one = repeats(60.0, &[(17.0, 0.05)], 0.02);
    let found = on_the_clock(60.02 * SECOND, &one).unwrap();
    assert!((found.period_ns - 60.0 * SECOND).abs() < 1.0, "{found:?}");
    assert!(found.after_ns < 0.1 * SECOND, "{found:?}");
    assert_eq!(found.repeats, 1);
}

#[test]
fn repeats_with_one_phase_keep_to_the_wall() {
    let same = repeats(5.0, &[(0.0, 1.7), (51.3, 1.7), (103.9, 1.7)], 0.02);
    let found = on_the_clock(4.99 * SECOND, &same).unwrap();
    assert!((found.after_ns - 1.7 * SECOND).abs() < 0.05 * SECOND);
    assert!(found.repeats == 3 && found.p < 0.01, "{found:?}");
    // A timer of the process begins with it, so each repeat has its own phase.
    let own = repeats(5.0, &[(0.0, 1.7), (51.3, 4.1), (103.9, 2.6)], 0.02);
    assert_eq!(on_the_clock(5.0 * SECOND, &own), None);
    assert_eq!(on_the_clock(5.0 * SECOND, &same[..1]), None, "one is any");
    assert_eq!(on_the_clock(5.3 * SECOND, &same), None, "not a round one");
    assert_eq!(on_the_clock(5.0 * SECOND, &[]), None);
    assert_eq!(
        on_the_clock(5.0 * SECOND, &[(1, vec![7]), (1, vec![9])]),
        None
    );
    // So it has if repeats follow each other like clockwork: then it cannot be decided.
    let clockwork = repeats(5.0, &[(0.0, 1.7), (50.05, 1.72), (100.1, 1.74)], 0.01);
    assert_eq!(on_the_clock(5.0 * SECOND, &clockwork), None);
}

#[test]
fn phases_at_random_keep_to_it_by_chance_alone() {
    let found = (0..500)
        .filter(|&seed| {
            let mut noise = Noise::new(seed);
            let of = [0.0, 61.3, 123.9].map(|begin| (begin, 5.0 * noise.uniform()));
            on_the_clock(5.0 * SECOND, &repeats(5.0, &of, 0.01)).is_some()
        })
        .count();
    assert!(found <= 12, "{found} of 500 at a chance of 0.01");
}
