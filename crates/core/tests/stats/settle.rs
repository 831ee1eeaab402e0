//! The course of a run: shapes that are known, and noise that must stay silent.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use slowpath_core::stats::settle::{Ramp, medians, settle, throughput};

/// Series of each kind that are drawn; a share of them is known to two points.
const DRAWN: u64 = 500;

struct Noise {
    random: ChaCha8Rng,
    sd: f64,
    correlation: f64,
    last: f64,
}

impl Noise {
    fn new(seed: u64, sd: f64, correlation: f64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Self {
            random,
            sd,
            correlation,
            last: 0.0,
        }
    }

    fn unit(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A logarithm of noise with that standard deviation, correlated with the one before.
    fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().max(1e-12).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.unit()).cos();
        let fresh = (1.0 - self.correlation.powi(2)).sqrt() * normal;
        self.last = self.correlation * self.last + fresh;
        self.sd * self.last
    }
}

/// The share of drawn series of a shape that are judged to be of a class.
fn share(ramp: Ramp, windows: usize, noise: (f64, f64), shape: impl Fn(f64) -> f64) -> f64 {
    let hits = (0..DRAWN).filter(|&seed| {
        let mut noise = Noise::new(seed, noise.0, noise.1);
        let at = |i: usize| i as f64 / windows as f64;
        let values: Vec<f64> = (0..windows)
            .map(|i| 1000.0 * shape(at(i)) * noise.next().exp())
            .collect();
        settle(&values).is_some_and(|course| course.ramp == ramp)
    });
    hits.count() as f64 / DRAWN as f64
}

#[test]
fn steady_series_claim_no_ramp_however_noisy() {
    for windows in [30, 60, 100] {
        for noise in [
            (0.02, 0.0),
            (0.10, 0.0),
            (0.30, 0.0),
            (0.05, 0.4),
            (0.20, 0.4),
        ] {
            let silent = share(Ramp::None, windows, noise, |_| 1.0);
            assert!(
                silent >= 0.97,
                "{windows} windows, noise {noise:?}: {silent}"
            );
        }
    }
}

#[test]
fn random_stalls_are_no_ramp() {
    let silent = (0..DRAWN).filter(|&seed| {
        let mut noise = Noise::new(seed, 0.05, 0.0);
        let values: Vec<f64> = (0..60)
            .map(|_| {
                let stalled = noise.unit() < 0.05;
                if stalled {
                    0.0
                } else {
                    1000.0 * noise.next().exp()
                }
            })
            .collect();
        settle(&values).is_some_and(|course| course.ramp == Ramp::None)
    });
    let silent = silent.count() as f64 / DRAWN as f64;
    assert!(silent >= 0.97, "{silent}");
}

#[test]
fn a_disturbance_in_between_is_no_ramp() {
    // Something else on the host halves the throughput for a tenth of the run.
    for (from, to) in [(0.1, 0.2), (0.3, 0.4), (0.45, 0.55)] {
        let disturbed = |t: f64| if from <= t && t < to { 0.5 } else { 1.0 };
        for windows in [50, 100] {
            let silent = share(Ramp::None, windows, (0.05, 0.4), disturbed);
            assert!(
                silent >= 0.97,
                "{from} to {to}, {windows} windows: {silent}"
            );
        }
    }
}

#[test]
fn ramps_are_told_apart_by_when_they_end() {
    let noise = (0.05, 0.4);
    let fast = share(Ramp::Fast, 60, noise, |t| if t < 0.07 { 0.3 } else { 1.0 });
    assert!(fast >= 0.95, "fast {fast}");
    let slow = share(Ramp::Slow, 60, noise, |t| (0.2 + 0.8 * t / 0.35).min(1.0));
    assert!(slow >= 0.95, "slow {slow}");
    let step = share(Ramp::Slow, 60, noise, |t| if t < 0.3 { 0.5 } else { 1.0 });
    assert!(step >= 0.95, "step {step}");
    let decay = share(Ramp::Slow, 60, noise, |t| 1.0 + 4.0 * (-t / 0.05).exp());
    assert!(decay >= 0.90, "decay {decay}");
}

#[test]
fn what_goes_on_moving_has_not_settled() {
    let noise = (0.03, 0.0);
    let climbs = share(Ramp::NotSettled, 60, noise, |t| 0.2 + 0.8 * t);
    assert!(climbs >= 0.95, "climbs {climbs}");
    let late = share(Ramp::NotSettled, 100, noise, |t| {
        if t < 0.75 { 0.5 } else { 1.0 }
    });
    assert!(late >= 0.95, "late step {late}");
    let most = share(
        Ramp::NotSettled,
        60,
        noise,
        |t| if t < 0.6 { 0.3 } else { 1.0 },
    );
    assert!(most >= 0.95, "step at 60 % {most}");
}

#[test]
fn a_ramp_has_a_start_a_length_and_a_shape() {
    let gradual: Vec<f64> = (0..100)
        .map(|i| f64::from((i + 10).min(40)) * 25.0)
        .collect();
    let course = settle(&gradual).unwrap();
    assert_eq!(course.ramp, Ramp::Slow);
    assert!((course.start_ratio - 0.275).abs() < 0.01, "{course:?}");
    assert!((24..=29).contains(&course.ninety_at), "{course:?}");
    assert!((27..=30).contains(&course.settled_at), "{course:?}");
    assert!(!course.is_step);
    let sudden: Vec<f64> = (0..100)
        .map(|i| if i < 20 { 100.0 } else { 1000.0 })
        .collect();
    let course = settle(&sudden).unwrap();
    assert!(course.is_step, "{course:?}");
    assert_eq!((course.ninety_at, course.settled_at), (20, 20));
}

#[test]
fn too_little_is_not_judged() {
    assert_eq!(settle(&[1.0; 29]), None);
    assert_eq!(settle(&[0.0; 40]), None);
    let second = 1_000_000_000;
    assert_eq!(throughput(0, 10 * second, [5; 299].into_iter()), None);
    assert_eq!(throughput(7, 7, [7; 1000].into_iter()), None);
    assert_eq!(
        medians(0, second, [(5, 1); 1000].into_iter()),
        None,
        "twenty windows of 50 ms"
    );
}

#[test]
fn windows_count_what_ended_in_them_and_nothing_outside() {
    let second = 1_000_000_000_u64;
    let done: Vec<u64> = (0..2000)
        .map(|i| second + i * 1_000_000)
        .chain([1, 9 * second])
        .collect();
    let counts = throughput(second, 3 * second, done.into_iter()).unwrap();
    assert_eq!(counts.len(), 40);
    assert!(counts.iter().all(|&n| (n - 50.0).abs() < 0.5), "{counts:?}");
    let due: Vec<(u64, u64)> = (0..400).map(|i| (i * second / 200, 7 + i / 200)).collect();
    let found = medians(0, 2 * second, due.into_iter()).unwrap();
    assert_eq!((found.len(), found[0], found[39]), (40, 7.0, 8.0));
}
