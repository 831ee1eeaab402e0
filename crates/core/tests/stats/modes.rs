use proptest::prelude::*;
use serde_json::Value;
use slowpath_core::stats::modes::{FEWEST_SAMPLES, Mode, modes};

use super::grids::{MS, Noise, exponential, lognormal, mixture, normal, pareto};
use super::laws::laws;

fn family(letter: char) -> Vec<u64> {
    let slow = || normal(240, 440.0, 8.0);
    match letter {
        'A' => mixture(&[lognormal(760, 5.0, 0.3), slow()]),
        'B' => mixture(&[lognormal(1000, 5.0, 0.3)]),
        'C' => mixture(&[lognormal(1000, 5.0, 1.0)]),
        'D' => mixture(&[
            lognormal(9400, 1.0, 0.3),
            normal(500, 41.0, 1.0),
            normal(100, 203.0, 3.0),
        ]),
        'E' => {
            let exact = family('A');
            exact
                .iter()
                .map(|&ns| ((ns as f64 / MS).round() * MS) as u64)
                .collect()
        }
        'F' => mixture(&[
            lognormal(500, 20.0, 0.2),
            normal(300, 220.0, 6.0),
            normal(150, 420.0, 6.0),
            normal(50, 620.0, 6.0),
        ]),
        'G' => mixture(&[exponential(5000, 10.0, 1.0)]),
        'H' => mixture(&[pareto(5000, 2.0, 1.5)]),
        _ => panic!("no family {letter}"),
    }
}

fn reference() -> Vec<(char, Vec<(f64, f64)>)> {
    let all: Value = serde_json::from_str(include_str!("../data/modes_vectors.json")).unwrap();
    let pairs = |modes: &Value| -> Vec<(f64, f64)> {
        let number = |pair: &Value, i: usize| pair[i].as_f64().unwrap();
        modes
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| (number(pair, 0), number(pair, 1)))
            .collect()
    };
    let named = all.as_object().unwrap().iter();
    named
        .map(|(name, modes)| (name.chars().next().unwrap(), pairs(modes)))
        .collect()
}

/// Locations within 1 % and weights within 0.005 of the reference. Where one broad class fills
/// the whole sample (C and G) the reference is a point of its grid, whose step is a quarter of
/// the bandwidth, 0.9 sigma n^(-1/5) / 4: half of that step, 2.8 % and 2 %, is the tolerance.
#[test]
fn meets_the_reference_modes() {
    for (letter, expected) in reference() {
        let tolerance = match letter {
            'C' => 0.028,
            'G' => 0.02,
            _ => 0.01,
        };
        let found = modes(&family(letter)).unwrap();
        assert_eq!(found.len(), expected.len(), "{letter}: {found:?}");
        for (mode, (at, weight)) in found.iter().zip(expected) {
            assert!(
                (mode.at / MS - at).abs() <= tolerance * at,
                "{letter}: {mode:?}, {at}"
            );
            assert!(
                (mode.weight - weight).abs() <= 0.005,
                "{letter}: {mode:?}, {weight}"
            );
        }
    }
}

/// The true peaks of the density of `ln x`, which smoothing moves by less than 1.5 %.
#[test]
fn finds_the_true_peaks() {
    let truth = [
        ('A', vec![5.0, 440.0]),
        ('B', vec![5.0]),
        ('C', vec![5.0]),
        ('D', vec![1.0, 41.0, 203.0]),
        ('F', vec![20.0, 220.0, 420.0, 620.0]),
        ('G', vec![10.0]),
    ];
    for (letter, peaks) in truth {
        let found = modes(&family(letter)).unwrap();
        for (mode, peak) in found.iter().zip(peaks) {
            assert!(
                (mode.at / MS - peak).abs() <= 0.015 * peak,
                "{letter}: {mode:?}"
            );
        }
    }
}

/// How often one distribution, drawn `runs` times, falls into several modes.
fn false_modes(runs: u64, n: usize, draw: impl Fn(&mut Noise) -> f64) -> usize {
    let several = |&seed: &u64| {
        let mut noise = Noise::new(seed);
        let mut sample: Vec<u64> = (0..n).map(|_| (draw(&mut noise) * MS) as u64).collect();
        sample.sort_unstable();
        modes(&sample).unwrap().len() > 1
    };
    (0..runs).filter(several).count()
}

#[test]
fn one_class_is_one_mode() {
    let found = [
        false_modes(40, 2000, |noise| 5.0 * (0.5 * noise.normal()).exp()),
        false_modes(40, 2000, |noise| 5.0 * noise.normal().exp()),
        false_modes(40, 2000, |noise| -10.0 * noise.uniform().ln()),
        false_modes(40, 2000, |noise| 2.0 * noise.uniform().powf(-0.5)),
    ];
    assert_eq!(found, [0; 4]);
}

#[test]
fn a_slow_class_of_three_per_cent_is_found() {
    for seed in 0..40 {
        let mut noise = Noise::new(seed);
        let mut sample: Vec<u64> = (0..3000)
            .map(|i| {
                let median = if i % 33 == 0 { 100.0 } else { 5.0 };
                (median * (0.3 * noise.normal()).exp() * MS) as u64
            })
            .collect();
        sample.sort_unstable();
        let found = modes(&sample).unwrap();
        assert_eq!(found.len(), 2, "seed {seed}: {found:?}");
        assert!(found[1].is_satellite() && !found[0].is_satellite());
    }
}

/// Latencies in whole milliseconds, as many a tool exports them, beside one exact timeout.
#[test]
fn steps_of_a_timer_are_no_modes() {
    for seed in 0..20 {
        let mut noise = Noise::new(seed);
        let mut sample: Vec<u64> = (0..2000)
            .map(|_| (6.0 * (0.3 * noise.normal()).exp()).round() as u64 * 1_000_000)
            .collect();
        sample.push(30_000_001);
        sample.sort_unstable();
        assert_eq!(modes(&sample).unwrap().len(), 1, "seed {seed}");
    }
}

#[test]
fn refuses_small_samples() {
    let refusal = modes(&vec![5; FEWEST_SAMPLES - 1]).unwrap_err();
    assert_eq!(refusal.to_string(), "needs 200 samples, have 199");
}

#[test]
fn constant_and_extreme_samples_are_one_mode() {
    for value in [0, 1, 5_000_000, u64::MAX] {
        let found = modes(&vec![value; FEWEST_SAMPLES]).unwrap();
        assert_eq!(found.len(), 1);
        assert!(
            (found[0].at - value as f64).abs() <= 1.0 + 1e-9 * value as f64,
            "{found:?}"
        );
        assert!((found[0].weight - 1.0).abs() < 1e-12);
    }
}

/// Each sample is in exactly the mode that counted it.
fn assert_partition(sample: &[u64], found: &[Mode]) {
    let weights: f64 = found.iter().map(|mode| mode.weight).sum();
    assert!((weights - 1.0).abs() < 1e-9);
    for mode in found {
        let held = sample.iter().filter(|&&value| mode.contains(value)).count();
        assert!((mode.weight - held as f64 / sample.len() as f64).abs() < 1e-9);
        assert!(mode.low as f64 <= mode.at && mode.at <= mode.high as f64);
    }
    for pair in found.windows(2) {
        assert_eq!(pair[0].high, pair[1].low);
        assert!(pair[0].at < pair[1].at);
    }
}

proptest! {
    #![proptest_config(laws(64))]

    #[test]
    fn modes_share_out_the_sample(
        mut sample in prop::collection::vec(
            prop_oneof![1_000u64..2_000, 50_000u64..60_000, 1u64..10_000_000, Just(777)],
            FEWEST_SAMPLES..1200,
        ),
    ) {
        sample.sort_unstable();
        let found = modes(&sample).unwrap();
        assert_partition(&sample, &found);
        prop_assert_eq!(found, modes(&sample).unwrap());
    }
}
