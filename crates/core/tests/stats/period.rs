use slowpath_core::stats::period::{period, rayleigh};

use super::grids::Noise;
use super::vectors::{assert_close, number, numbers, vectors};

const SECOND: f64 = 1e9;

fn times(seconds: impl IntoIterator<Item = f64>) -> Vec<u64> {
    seconds
        .into_iter()
        .map(|second| (second * SECOND) as u64)
        .collect()
}

#[test]
fn rayleigh_of_vectors() {
    let vectors = vectors();
    let events = times(numbers(&vectors, &["rayleigh", "events"]));
    let figure = |name| number(&vectors, &["rayleigh", name]);
    let found = rayleigh(&events, 30.0 * SECOND).unwrap();
    assert_close(found.r, figure("Rbar"), 1e-9);
    assert_close(found.z, figure("Z"), 1e-9);
    assert_close(found.p, figure("p_zar"), 1e-6);
    for (name, period_s) in [
        ("Rbar_at_15", 15.0),
        ("Rbar_at_60", 60.0),
        ("Rbar_at_29", 29.0),
    ] {
        assert_close(
            rayleigh(&events, period_s * SECOND).unwrap().r,
            figure(name),
            1e-6,
        );
    }
    assert!(rayleigh(&[], 1.0).is_none());
}

/// Events `period_s` apart with a jitter in shares of the period.
fn ticking(count: u32, period_s: f64, jitter: f64, seed: u64) -> Vec<u64> {
    let mut noise = Noise::new(seed);
    times((1..=count).map(|tick| (f64::from(tick) + jitter * noise.normal()) * period_s))
}

#[test]
fn finds_periods_and_not_their_fractions() {
    for (count, period_s, jitter) in [
        (40, 0.1, 0.0),
        (40, 0.1, 0.02),
        (60, 0.5, 0.05),
        (30, 1.0, 0.02),
        (300, 0.1, 0.05),
    ] {
        let found = period(&ticking(count, period_s, jitter, 3)).unwrap();
        assert_close(found.period_ns, period_s * SECOND, 0.005);
        assert!(found.r >= 0.8 && found.p < 0.001, "{found:?}");
        assert_eq!(found.n, count as usize);
    }
}

#[test]
fn a_period_shows_through_missing_ticks() {
    let all = ticking(80, 0.25, 0.02, 5);
    let kept: Vec<u64> = all
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i * i % 7 != 2)
        .map(|(_, at)| at)
        .collect();
    assert_close(period(&kept).unwrap().period_ns, 0.25 * SECOND, 0.005);
}

/// Events that come one after the other at random, each closely followed by `followers`.
fn random_events(count: u32, followers: u32, seed: u64) -> Vec<u64> {
    let mut noise = Noise::new(seed);
    let mut at_s = 0.0;
    let mut all = Vec::new();
    for _ in 0..count {
        at_s -= noise.uniform().ln();
        all.extend((0..=followers).map(|follower| at_s + 0.001 * f64::from(follower)));
    }
    times(all)
}

#[test]
fn random_events_have_no_period() {
    let found = (0..100)
        .filter(|&seed| period(&random_events(40, 0, seed)).is_some())
        .count();
    assert_eq!(found, 0);
}

/// If each event of a burst counted, every tenth of these sequences would look periodic.
#[test]
fn random_bursts_have_no_period() {
    let found = (0..50)
        .filter(|&seed| period(&random_events(12, 2, seed)).is_some())
        .count();
    assert_eq!(found, 0);
}

#[test]
fn little_evidence_is_no_period() {
    assert!(period(&[]).is_none());
    assert!(period(&[5; 100]).is_none());
    assert!(period(&ticking(7, 1.0, 0.0, 1)).is_none());
    // Ten events at any of the thousands of periods of the scan prove nothing.
    assert!(period(&ticking(10, 30.0, 0.003, 1)).is_none());
}
