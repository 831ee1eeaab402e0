//! Steps within a run: found where they are, with the axis they belong to, and not in noise.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use slowpath_core::stats::run_groups::run_groups;
use slowpath_core::stats::step::{aligned, step};

use super::noise::{normal, unit};
use super::vectors::assert_close;

/// Latencies in nanoseconds around 1 ms times a level that depends on the index.
fn latencies(seed: u64, n: usize, level: impl Fn(usize) -> f64) -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut one = |i| (1e6 * level(i) * (0.3 * normal(&mut random)).exp()) as u64;
    (0..n).map(&mut one).collect()
}

#[test]
fn a_step_is_found_at_its_index() {
    for (n, at) in [(2000, 700), (20_000, 16_384), (20_001, 2_001)] {
        let values = latencies(1, n, |i| if i < at { 1.0 } else { 1.5 });
        let found = step(&values, 0.5).unwrap();
        assert!(found.low <= at && at <= found.high, "{found:?}");
        assert!(found.at.abs_diff(at) <= n / 100, "{found:?} and not {at}");
        assert_close(found.ratio, 1.5, 0.05);
        assert!(found.p < 0.01 && found.is_abrupt, "{found:?}");
    }
    // Downwards, and in the tail alone.
    let down = latencies(2, 5000, |i| if i < 2500 { 2.0 } else { 1.0 });
    let found = step(&down, 0.5).unwrap();
    assert!(
        found.at.abs_diff(2500) < 50 && found.ratio < 0.6,
        "{found:?}"
    );
    let mut tail = latencies(3, 20_000, |_| 1.0);
    for (index, value) in tail.iter_mut().enumerate() {
        if index >= 12_000 && index % 5 == 0 {
            *value *= 10;
        }
    }
    assert_eq!(step(&tail, 0.5), None);
    let found = step(&tail, 0.9).unwrap();
    assert!(found.at.abs_diff(12_000) < 200, "{found:?}");
}

#[test]
fn what_is_no_step_is_none() {
    assert_eq!(
        step(&latencies(4, 319, |i| 1.0 + (i / 160) as f64), 0.5),
        None,
        "too few"
    );
    assert!(step(&latencies(4, 320, |i| 1.0 + (i / 160) as f64), 0.5).is_some());
    assert_eq!(step(&[], 0.5), None);
    assert_eq!(step(&[7; 1000], 0.5), None);
    let small = latencies(5, 20_000, |i| if i < 9000 { 1.0 } else { 1.05 });
    assert_eq!(step(&small, 0.5), None, "below 10 %");
    let gone = latencies(6, 20_000, |i| {
        if (12_000..15_000).contains(&i) {
            3.0
        } else {
            1.0
        }
    });
    assert_eq!(step(&gone, 0.5), None, "it comes back");
    let ramp = latencies(7, 20_000, |i| 1.0 + i as f64 / 10_000.0);
    assert!(step(&ramp, 0.5).is_none_or(|found| !found.is_abrupt));
}

#[test]
fn noise_that_hangs_together_is_no_step() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut claimed = 0;
    for _ in 0..100 {
        let mut at = 0.0;
        let values: Vec<u64> = (0..2000)
            .map(|_| {
                at = 0.95 * at + 0.1 * normal(&mut random);
                (1e6 * f64::exp(at)) as u64
            })
            .collect();
        claimed += usize::from(step(&values, 0.5).is_some());
    }
    assert!(claimed <= 3, "{claimed} of 100");
}

#[test]
fn the_axis_that_places_steps_alike_is_theirs() {
    // Something gives after 10,000 requests, whatever the rate.
    let rates = [100.0, 200.0, 400.0];
    let index = vec![10_000.0, 10_200.0, 9_900.0];
    let time: Vec<f64> = index.iter().zip(rates).map(|(i, rate)| i / rate).collect();
    let found = aligned(&[time, index], 1.0 / 64.0).unwrap();
    assert_eq!(found.axis, Some(1), "{found:?}");
    assert!(
        found.likelier > 100.0 && found.scatter[0] > 0.5,
        "{found:?}"
    );
    // At 30 s, whatever the rate.
    let time = vec![30.0, 30.4, 29.8];
    let index: Vec<f64> = time.iter().zip(rates).map(|(t, rate)| t * rate).collect();
    assert_eq!(
        aligned(&[time.clone(), index], 1.0 / 64.0).unwrap().axis,
        Some(0)
    );
    // At one rate nothing distinguishes them.
    let index: Vec<f64> = time.iter().map(|t| t * 200.0).collect();
    assert_eq!(
        aligned(&[time.clone(), index], 1.0 / 64.0).unwrap().axis,
        None
    );
    // Places that scatter on both belong to neither.
    let found = aligned(
        &[vec![10.0, 20.0, 15.0], vec![1000.0, 90_000.0, 8000.0]],
        0.02,
    )
    .unwrap();
    assert_eq!(found.axis, None, "{found:?}");
    assert_eq!(aligned(std::slice::from_ref(&time), 0.02), None);
    assert_eq!(aligned(&[time.clone(), vec![1.0, 2.0]], 0.02), None);
    assert_eq!(aligned(&[time, vec![1.0, 0.0, 2.0]], 0.02), None);
}

#[test]
fn runs_in_two_groups_are_told_from_a_change_and_from_noise() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut figures = |levels: &[f64]| -> Vec<f64> {
        levels
            .iter()
            .map(|level| level * (0.01 * normal(&mut random)).exp())
            .collect()
    };
    let found = run_groups(&figures(&[3.0, 4.0, 3.0, 3.0, 4.0, 4.0, 3.0, 4.0])).unwrap();
    assert_eq!(
        found.is_high,
        [false, true, false, false, true, true, false, true]
    );
    assert_eq!((found.switches, found.is_change()), (5, false));
    assert_close(found.low, 3.0, 0.02);
    assert_close(found.high, 4.0, 0.02);
    let changed = run_groups(&figures(&[3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0])).unwrap();
    assert!(changed.is_change());
    assert_eq!(
        run_groups(&figures(&[3.0, 3.0, 3.0, 3.0, 3.0, 4.0])),
        None,
        "one outlier"
    );
    assert_eq!(
        run_groups(&figures(&[3.0, 4.0, 3.0, 4.0, 3.0])),
        None,
        "five runs"
    );
    assert_eq!(run_groups(&[5.0; 8]), None);
    assert_eq!(run_groups(&[5.0, 5.0, 5.0, 5.1, 5.1, 5.1]), None, "2 %");
    assert_eq!(run_groups(&[1.0, 1.0, 1.0, 2.0, 2.0, 0.0]), None);
    let spread = |random: &mut ChaCha8Rng| (0..10).map(|_| 1.0 + unit(random)).collect::<Vec<_>>();
    let claimed = (0..1000)
        .filter(|_| run_groups(&spread(&mut random)).is_some())
        .count();
    assert!(claimed <= 20, "{claimed} of 1000");
}
