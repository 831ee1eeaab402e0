use slowpath_core::stats::batches::{Batches, Window};
use slowpath_core::stats::modes::{FEWEST_SAMPLES, Mode, modes, recurring};
use slowpath_core::stats::shape::{Shape, weights};

use super::grids::{MS, Noise, lognormal, mixture, normal};
use super::vectors::assert_close;

/// Latencies in milliseconds and how often each occurred, of the benchmark that the perfolizer
/// repository has as `ModalityManualDataSet.Manual1` (MIT): three modes, ten apart, among values
/// rounded to ones.
const MANUAL: [(u64, usize); 49] = [
    (140, 1),
    (144, 2),
    (145, 2),
    (146, 4),
    (147, 9),
    (148, 4),
    (149, 12),
    (150, 202),
    (151, 34),
    (152, 16),
    (153, 8),
    (154, 9),
    (155, 18),
    (156, 13),
    (157, 13),
    (158, 11),
    (159, 34),
    (160, 347),
    (161, 59),
    (162, 10),
    (163, 15),
    (164, 12),
    (165, 18),
    (166, 14),
    (167, 5),
    (168, 4),
    (169, 5),
    (170, 52),
    (171, 13),
    (172, 5),
    (173, 3),
    (174, 4),
    (175, 4),
    (176, 2),
    (177, 2),
    (180, 10),
    (181, 6),
    (182, 2),
    (183, 2),
    (186, 2),
    (189, 1),
    (190, 3),
    (191, 2),
    (202, 1),
    (203, 1),
    (247, 1),
    (280, 1),
    (281, 1),
    (648, 1),
];

fn manual() -> Vec<u64> {
    let often = MANUAL.iter();
    often
        .flat_map(|&(ms, times)| vec![ms * 1_000_000; times])
        .collect()
}

/// Where the modes of a run are, in milliseconds, and their weights.
fn located(found: &[Mode]) -> Vec<(f64, f64)> {
    found
        .iter()
        .map(|mode| (mode.at / MS, mode.weight))
        .collect()
}

#[test]
fn close_modes_of_rounded_values_are_told_apart() {
    let sample = manual();
    assert_eq!(sample.len(), 1000);
    let found = located(&modes(&sample).unwrap());
    let expected = [(150.0, 0.294), (160.0, 0.578), (170.2, 0.128)];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((at, weight), (expected_at, expected_weight)) in found.into_iter().zip(expected) {
        assert!((at - expected_at).abs() <= 0.01 * expected_at);
        assert!(
            (weight - expected_weight).abs() <= 0.005,
            "{weight}, {expected_weight}"
        );
    }
}

/// Gumbel distributions ten scales apart, a hundred values each, as perfolizer's tests have
/// them; here from 100 on.
fn progression(modes: u32, seed: u64) -> Vec<u64> {
    let mut noise = Noise::new(seed);
    let each = if modes == 1 { 200 } else { 100 };
    let mut sample: Vec<u64> = (0..modes * each)
        .map(|i| {
            let location = 100.0 + 10.0 * f64::from(i % modes);
            ((location - (-noise.uniform().ln()).ln()) * MS) as u64
        })
        .collect();
    sample.sort_unstable();
    sample
}

#[test]
fn both_detectors_count_up_to_seven_modes_of_a_hundred() {
    for count in 1..=7 {
        for seed in 0..3 {
            let shape = Shape::of(&progression(count, seed)).unwrap();
            let counts = [shape.modes.len(), shape.second_count];
            assert_eq!(counts, [count as usize; 2], "{count} modes, seed {seed}");
            assert_eq!(
                (shape.fewest(), shape.most()),
                (count as usize, count as usize)
            );
            assert_eq!(shape.dip.p <= 0.001, count > 1, "{:?}", shape.dip);
        }
    }
}

/// The dip of a large sample is that of a part of it, in which no value may be drawn twice: two
/// equal ones are a step that a continuous distribution does not have.
#[test]
fn large_samples_of_one_mode_dip_no_more_often_than_chance() {
    let mut noise = Noise::new(5);
    let dips = |_: &u32| {
        let mut sample: Vec<u64> = (0..10_500)
            .map(|_| (1e9 * (1.0 + noise.uniform())) as u64)
            .collect();
        sample.sort_unstable();
        Shape::of(&sample).unwrap().dip.p <= 0.05
    };
    let dipped = (0..20).filter(dips).count();
    assert!(dipped <= 4, "{dipped} of 20");
}

/// The second detector reads a percentile as a box, so a satellite of 1 % is lost on it.
#[test]
fn detectors_that_differ_give_a_range() {
    let sample = mixture(&[
        lognormal(9400, 1.0, 0.3),
        normal(500, 41.0, 1.0),
        normal(100, 203.0, 3.0),
    ]);
    let shape = Shape::of(&sample).unwrap();
    assert_eq!((shape.modes.len(), shape.second_count), (3, 2));
    assert_eq!((shape.fewest(), shape.most()), (2, 3));
    let one = Shape::of(&mixture(&[lognormal(2000, 5.0, 0.5)])).unwrap();
    assert_eq!((one.fewest(), one.most()), (1, 1));
    assert!(one.dip.p > 0.5, "{:?}", one.dip);
    let two = Shape::of(&mixture(&[
        lognormal(760, 5.0, 0.3),
        normal(240, 440.0, 8.0),
    ]))
    .unwrap();
    assert_eq!((two.fewest(), two.most()), (2, 2));
    assert!(two.dip.p <= 0.001, "{:?}", two.dip);
}

#[test]
fn small_samples_have_no_shape() {
    assert!(Shape::of(&vec![5; FEWEST_SAMPLES - 1]).is_err());
    assert_eq!(Shape::of(&vec![5; FEWEST_SAMPLES]).unwrap().most(), 1);
}

/// A sample that is thinned has the same modes, and weights of all of it.
#[test]
fn a_large_sample_has_the_modes_of_a_small_one() {
    let parts = |times: u32| {
        mixture(&[
            lognormal(760 * times, 5.0, 0.3),
            normal(240 * times, 440.0, 8.0),
        ])
    };
    let small = modes(&parts(20)).unwrap();
    let large = modes(&parts(300)).unwrap();
    assert_eq!(small.len(), large.len());
    for (small, large) in small.iter().zip(&large) {
        assert_close(small.at, large.at, 0.01);
        assert_close(large.weight, small.weight, 1e-4);
    }
    let all = parts(300);
    assert_eq!(
        (large[0].low, large[1].high),
        (all[0], all[all.len() - 1] + 1)
    );
}

/// Latencies one after the other, `per_batch` to each of thirty seconds.
fn run(latencies: &[u64]) -> (Batches, Vec<(u32, u64)>) {
    let end_ns = 30_000_000_000;
    let batches = Batches::new(&[Window {
        begin_ns: 0,
        end_ns,
    }]);
    let at = |i: usize| i as u64 * end_ns / latencies.len() as u64;
    let samples = latencies
        .iter()
        .enumerate()
        .map(|(i, &latency)| (batches.of(0, at(i)), latency))
        .collect();
    (batches, samples)
}

fn shape_of_run(latencies: &[u64]) -> (Shape, Shape) {
    let (batches, samples) = run(latencies);
    let mut sorted = latencies.to_vec();
    sorted.sort_unstable();
    let of_all = Shape::of(&sorted).unwrap();
    let over_time = Shape::over_time(
        of_all.modes.clone(),
        &sorted,
        &batches,
        samples.iter().copied(),
    )
    .unwrap();
    (of_all, over_time)
}

/// A busy host moves the level by some per cent; each place where it rested is a peak.
#[test]
fn a_level_that_wanders_is_one_mode() {
    for seed in 0..5 {
        let mut noise = Noise::new(seed);
        let mut level = 80_000.0;
        let latencies: Vec<u64> = (0..20_000)
            .map(|i| {
                if i % 700 == 0 {
                    level = 80_000.0 * (0.06 * noise.normal()).exp();
                }
                (level * (0.01 * noise.normal()).exp()) as u64
            })
            .collect();
        let (as_if_independent, over_time) = shape_of_run(&latencies);
        assert!(as_if_independent.modes.len() > 1, "seed {seed}");
        assert_eq!(over_time.most(), 1, "seed {seed}: {over_time:?}");
    }
}

/// Two ways through a server, 7 % apart, taken all the time; and a stall once in a while, which
/// is far away.
#[test]
fn modes_that_recur_or_are_far_apart_stay() {
    let mut noise = Noise::new(3);
    let latencies: Vec<u64> = (0..20_000)
        .map(|i| {
            let level = match i {
                4_000..4_100 | 11_000..11_150 => 440e6,
                _ if noise.uniform() < 0.4 => 8.6e6,
                _ => 8e6,
            };
            (level * (0.01 * noise.normal()).exp()) as u64
        })
        .collect();
    let (_, over_time) = shape_of_run(&latencies);
    assert_eq!(over_time.modes.len(), 3, "{:?}", over_time.modes);
}

#[test]
fn what_is_joined_keeps_the_whole_range() {
    let mode = |at: f64, weight, low, high| Mode {
        at,
        weight,
        low,
        high,
    };
    let apart = vec![
        mode(100.0, 0.3, 90, 105),
        mode(110.0, 0.5, 105, 115),
        mode(120.0, 0.2, 115, 130),
    ];
    // All of the first mode in the first half, then all of the others.
    let samples: Vec<(u32, u64)> = (0..10)
        .flat_map(|b| vec![(b, 100 + u64::from(b)); 9])
        .collect();
    assert_eq!(
        recurring(apart, 10, samples.into_iter()),
        [mode(110.0, 1.0, 90, 130)]
    );
}

/// A weight that scatters between seconds as independent requests would has the interval of
/// Clopper and Pearson; one that comes in bursts a wider one.
#[test]
fn weights_have_the_interval_of_their_scatter() {
    let modes = [(5.0, 0, 100), (440.0, 100, 1000)].map(|(at, low, high)| Mode {
        at,
        weight: 0.5,
        low,
        high,
    });
    let steady: Vec<u64> = (0..3000)
        .map(|i| if i % 4 == 0 { 440 } else { 5 })
        .collect();
    let (batches, samples) = run(&steady);
    let found = weights(&modes, &batches, samples.iter().copied()).unwrap();
    assert_close(found[1].share, 0.25, 1e-12);
    assert!(found[1].low < 0.25 && found[1].low > 0.23, "{found:?}");
    assert_close(found[0].share + found[1].share, 1.0, 1e-12);
    assert_close(found[0].low, 1.0 - found[1].high, 1e-9);
    let bursts: Vec<u64> = (0..3000)
        .map(|i| if i % 1000 < 250 { 440 } else { 5 })
        .collect();
    let (batches, samples) = run(&bursts);
    let found = weights(&modes, &batches, samples.iter().copied()).unwrap();
    assert_close(found[1].share, 0.25, 1e-12);
    assert!(found[1].deff > 50.0 && found[1].high > 0.4, "{found:?}");
    assert!(weights(&modes, &batches, std::iter::empty()).is_none());
}
