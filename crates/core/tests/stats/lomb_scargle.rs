use std::f64::consts::TAU;

use slowpath_core::stats::lomb_scargle::{Level, power, swing};

use super::grids::Noise;
use super::vectors::{assert_close, numbers, vectors};

fn level(at_s: f64, value: f64) -> Level {
    Level {
        at_ns: at_s * 1e9,
        value,
        weight: 1.0,
    }
}

/// `scipy.signal.lombscargle(..., normalize=True)` of a sine with a little of another.
#[test]
fn powers_of_vectors() {
    let vectors = vectors();
    let path = |name| ["lombscargle_normalised", name];
    let times = numbers(&vectors, &path("t"));
    let levels: Vec<Level> = times
        .iter()
        .map(|&t| level(t, (TAU * t / 4.0).sin() + 0.1 * t.cos()))
        .collect();
    let expected = numbers(&vectors, &path("power"));
    for (frequency, expected) in numbers(&vectors, &path("f")).into_iter().zip(expected) {
        assert_close(power(&levels, 1e9 / frequency), expected, 1e-6);
    }
}

/// Medians of seconds that resemble their neighbours, and swing by `swing` every 40 s.
fn seconds(count: u32, swing: f64, seed: u64) -> Vec<Level> {
    let mut noise = Noise::new(seed);
    let mut drift = 0.0;
    (0..count)
        .map(|second| {
            drift = 0.6 * drift + 0.05 * noise.normal();
            let second = f64::from(second);
            level(second, drift + swing * (TAU * second / 40.0).sin())
        })
        .collect()
}

#[test]
fn a_level_that_swings_has_a_period() {
    for seed in 0..5 {
        let found = swing(&seconds(300, 0.06, seed)).unwrap();
        assert_close(found.period_ns, 40e9, 0.05);
        assert!(found.p <= 0.01 && found.power > 0.1, "{found:?}");
    }
    // An hour is examined through means of ten seconds.
    let hour = swing(&seconds(3600, 0.06, 9)).unwrap();
    assert_close(hour.period_ns, 40e9, 0.02);
}

/// White noise would give the neighbours' likeness away; stretches of ten seconds do not.
#[test]
fn a_level_that_wanders_has_none() {
    let found = (0..40).filter(|&seed| swing(&seconds(240, 0.0, seed)).is_some());
    assert!(found.count() <= 2);
    assert!(swing(&seconds(70, 1.0, 1)).is_none());
    assert!(swing(&[]).is_none());
    let constant: Vec<Level> = (0..200)
        .map(|second| level(f64::from(second), 1.0))
        .collect();
    assert_eq!(swing(&constant), None);
}

/// A second with few requests counts for less.
#[test]
fn levels_count_by_their_weight() {
    let mut levels = seconds(200, 0.2, 2);
    let clean = power(&levels, 40e9);
    for level in levels.iter_mut().step_by(10) {
        level.value += 3.0;
        level.weight = 1e-6;
    }
    let weighted = power(&levels, 40e9);
    assert!((weighted - clean).abs() < 0.05, "{weighted} {clean}");
}
