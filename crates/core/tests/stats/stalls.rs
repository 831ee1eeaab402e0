use slowpath_core::stats::batches::Window;
use slowpath_core::stats::stalls::{h_test, stalls, z_squared};

use super::grids::Noise;
use super::vectors::{assert_close, number, numbers, vectors};

const SECOND: f64 = 1e9;

fn window(seconds: f64) -> Window {
    Window {
        begin_ns: 0,
        end_ns: (seconds * SECOND) as u64,
    }
}

fn times(seconds: impl IntoIterator<Item = f64>) -> Vec<u64> {
    seconds
        .into_iter()
        .map(|second| (second * SECOND) as u64)
        .collect()
}

#[test]
fn statistics_of_vectors() {
    let vectors = vectors();
    let events = numbers(&vectors, &["rayleigh", "events"]);
    let figure = |name| number(&vectors, &["rayleigh", name]);
    let z = z_squared(&events, figure("P"), 2);
    assert_close(z[0], figure("Z2_1"), 1e-9);
    assert_close(z[1], figure("Z2_2"), 1e-9);
    let (h, harmonics) = h_test(&events, figure("P"), 20);
    assert_close(h, figure("H"), 1e-9);
    assert_close(harmonics as f64, figure("H_m"), 1e-12);
    assert_close((-0.4 * h).exp(), figure("H_p"), 1e-6);
    let found = stalls(&times(events), window(285.0)).unwrap();
    assert_close(found.period_ns, 30.0 * SECOND, 0.002);
    assert!(
        found.jitter_ns < 0.2 * SECOND && found.missed == 0 && found.n == 10,
        "{found:?}"
    );
}

/// Due every `period_s` with a jitter in shares of the period.
fn ticking(count: u32, period_s: f64, jitter: f64, seed: u64) -> Vec<u64> {
    let mut noise = Noise::new(seed);
    times((0..count).map(|tick| (f64::from(tick) + 0.4 + jitter * noise.normal()) * period_s))
}

#[test]
fn finds_periods_of_bursts_and_not_their_fractions() {
    for (count, period_s) in [(10, 30.0), (20, 10.0), (6, 60.0), (40, 5.0)] {
        let begins = ticking(count, period_s, 0.02, 1);
        // Each stall makes a burst of slow requests of half a second.
        let events: Vec<u64> = begins
            .iter()
            .flat_map(|&begin| (0..3).map(move |i| begin + i * 200_000_000))
            .collect();
        let found = stalls(&events, window(f64::from(count) * period_s)).unwrap();
        assert_close(found.period_ns, period_s * SECOND, 0.02);
        assert_eq!(found.n, count as usize, "{found:?}");
        assert!(found.p <= 0.01 && found.missed == 0);
    }
}

#[test]
fn a_period_shows_though_half_of_it_is_missing() {
    let all = ticking(40, 10.0, 0.02, 2);
    let half: Vec<u64> = all
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i * i % 5 < 2)
        .map(|(_, at)| at)
        .collect();
    let found = stalls(&half, window(400.0)).unwrap();
    assert_close(found.period_ns, 10.0 * SECOND, 0.01);
    assert!(found.missed > 10, "{found:?}");
}

#[test]
fn little_evidence_is_no_period() {
    assert!(stalls(&[], window(300.0)).is_none());
    assert!(stalls(&ticking(4, 30.0, 0.0, 1), window(120.0)).is_none());
    // Six stalls in the first of four periods.
    assert!(stalls(&ticking(6, 3.0, 0.0, 1), window(1000.0)).is_none());
    assert!(stalls(&[5; 40], window(300.0)).is_none());
}

/// Stalls that follow each other at random, each closely followed by others.
#[test]
fn random_bursts_have_no_period() {
    let found = (0..100)
        .filter(|&seed| {
            let mut noise = Noise::new(seed);
            let begins: Vec<f64> = (0..12).map(|_| 300.0 * noise.uniform()).collect();
            let events = times(begins.iter().flat_map(|at| [*at, at + 0.3, at + 0.6]));
            stalls(&events, window(300.0)).is_some()
        })
        .count();
    assert!(found <= 4, "{found} of 100 at a chance of 0.01");
}

#[test]
fn the_next_run_keeps_a_prediction_or_breaks_it() {
    let found = stalls(&ticking(10, 30.0, 0.01, 4), window(300.0)).unwrap();
    let next = Window {
        begin_ns: 400_000_000_000,
        end_ns: 640_000_000_000,
    };
    let due = found.due(next);
    assert_eq!(due.len(), 8);
    assert!(found.half_window_ns() >= 3.0 * found.jitter_ns);
    let as_predicted = times(due.iter().skip(1).map(|due| due / SECOND + 0.1));
    let kept = found.kept(&as_predicted, next).unwrap();
    assert_eq!((kept.due, kept.hit), (8, 7));
    assert!(kept.holds && kept.p < 1e-3, "{kept:?}");
    let elsewhere = times(due.iter().map(|due| due / SECOND + 11.0));
    let broken = found.kept(&elsewhere, next).unwrap();
    assert!(!broken.holds && broken.hit == 0 && broken.p > 0.99);
    // Stalls all the time hit each window, which proves nothing.
    let always = times((400..640).map(f64::from));
    let by_chance = found.kept(&always, next).unwrap();
    assert!(by_chance.hit == 8 && !by_chance.holds, "{by_chance:?}");
    let short = Window {
        begin_ns: 400_000_000_000,
        end_ns: 400_000_000_001,
    };
    assert!(found.kept(&[], short).is_none());
}
