//! Changes over releases: published series with known answers, noise that must stay silent, and
//! what is refused.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use slowpath_core::stats::change::{Course, Limits, NoClaim, history, long, sup_t};

use super::noise::normal;
use super::vectors::assert_close;

/// Annual flow of the Nile 1871 to 1970 (Cobb 1978), the dataset Nile of R.
pub(super) const NILE: [u16; 100] = [
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845,
    864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010, 771, 676,
    649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918, 986, 797, 923,
    975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
];

/// Indexes of the changes of a history.
fn places(figures: &[f64], limits: &Limits) -> Vec<usize> {
    let found = history(figures, limits).unwrap();
    found.changes.iter().map(|change| change.at).collect()
}

fn usual() -> Limits {
    Limits::with_floor(0.0)
}

#[test]
fn chances_agree_with_published_and_exact_ones() {
    // Three values a side: T of six values is exceeded by 3.85 and 6.13 in 5 and 1 % of 20,000
    // simulated series, of twenty by 3.19 and 3.97, of fifty by 3.13 and 3.75.
    for (n, t, p) in [
        (6, 3.85, 0.05),
        (6, 6.13, 0.01),
        (20, 3.19, 0.05),
        (20, 3.97, 0.01),
        (50, 3.13, 0.05),
        (50, 3.75, 0.01),
    ] {
        assert_close(sup_t::chance(n, t), p, 0.12);
    }
    // Between the lengths of the table and beyond its levels a chance goes on falling.
    let chances: Vec<f64> = (1..60)
        .map(|t| sup_t::chance(33, f64::from(t) / 4.0))
        .collect();
    assert!(
        chances
            .windows(2)
            .all(|pair| pair[1] < pair[0] || pair[0] > 0.999),
        "{chances:?}"
    );
    // A single place is Student's test: four values of two levels.
    let four = sup_t::chance(4, 4.302_652_73);
    assert_close(four, 0.05, 1e-6);
}

#[test]
fn the_nile_fell_in_1899() {
    let nile = NILE.map(f64::from);
    let best = sup_t::split(&nile).unwrap();
    assert_eq!(best.at, 28);
    // strucchange finds the break after 28 values. Means 1097.75 and 849.9722; the F statistic of the break is 75.92976943 in strucchange.
    assert_close(best.difference, 849.972_222_222 - 1097.75, 1e-9);
    assert_close(best.t.powi(2), 75.929_769_43, 1e-9);
    assert!(best.p < 1e-9);
    assert_eq!(places(&nile, &usual()), [28]);
    assert_eq!(long::segments(&nile), [28]);
}

#[test]
fn small_series_of_other_tools_are_split_as_they_are_there() {
    // Apache Otava, tests/analysis_test.py.
    let sample = [
        1.02, 0.95, 0.99, 1.00, 1.12, 1.00, 1.01, 0.98, 1.01, 0.96, 0.50, 0.51, 0.48, 0.48, 0.55,
        0.50, 0.49, 0.51, 0.50, 0.49,
    ];
    assert_eq!(places(&sample, &usual()), [10]);
    // tests/change_point_divisive_test.py, moved up by 10 since its lowest values are negative.
    let sequence = [
        0.3, 2.4, 1.5, -0.9, -0.5, 99.7, 98.3, 99.1, 149.0, 149.7, 149.5, 149.1, 148.8, 150.0,
    ]
    .map(|v| v + 10.0);
    assert_eq!(places(&sequence, &usual()), [5, 8]);
}

#[test]
fn a_change_says_where_how_much_and_how_sure() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut figures: Vec<f64> = (0..20)
        .map(|i| if i < 12 { 100.0 } else { 130.0 } * (0.02 * normal(&mut random)).exp())
        .collect();
    let found = history(&figures, &usual()).unwrap();
    assert_eq!(found.course, Course::Stepped);
    let change = found.changes[0];
    assert_eq!(
        (found.changes.len(), change.at, change.is_suspect),
        (1, 12, false)
    );
    assert_close(change.before, 100.0, 0.02);
    assert_close(change.ratio, 1.3, 0.03);
    assert!(change.p < 1e-4);
    assert!(!found.is_last_novel(&usual()), "{:?}", found.last);
    // The same, but smaller than twice the floor of a noisy host.
    let noisy = Limits::with_floor(0.2);
    assert_eq!(history(&figures, &noisy).unwrap().course, Course::Steady);
    // One release more, half as fast: no change yet, but something to run again.
    figures.push(200.0);
    let found = history(&figures, &usual()).unwrap();
    assert_eq!(found.changes.len(), 1);
    assert!(found.is_last_novel(&usual()));
    let last = found.last.unwrap();
    assert_close(last.expected, change.after, 1e-9);
    assert!(last.low < last.expected && last.expected < last.high && last.high < 200.0);
}

#[test]
fn a_change_that_one_figure_carries_is_suspect() {
    let quiet = [
        100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0, 100.0, 100.4,
    ];
    let mut carried = quiet.to_vec();
    carried.extend([102.0, 160.0]);
    let mut agreed = quiet.to_vec();
    agreed.extend([150.0, 160.0]);
    for (figures, is_suspect) in [(carried, true), (agreed, false)] {
        let found = history(&figures, &usual()).unwrap();
        let suspects: Vec<bool> = found.changes.iter().map(|c| c.is_suspect).collect();
        if is_suspect {
            assert!(suspects.iter().all(|&s| s), "{found:?}");
            assert!(
                found.is_last_novel(&usual()) || !suspects.is_empty(),
                "{found:?}"
            );
        } else {
            assert_eq!(suspects, [false]);
        }
    }
}

#[test]
fn a_slow_drift_is_a_drift_and_no_step() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let figures: Vec<f64> = (0..24)
        .map(|i| 50.0 * (0.01 * f64::from(i) + 0.01 * normal(&mut random)).exp())
        .collect();
    let found = history(&figures, &usual()).unwrap();
    let Course::Drifting { from, ratio, p } = found.course else {
        panic!("{found:?}")
    };
    assert_eq!(from, 0);
    assert_close(ratio, f64::exp(0.23), 0.05);
    assert!(p < 1e-6 && found.changes.is_empty() && found.last.is_none());
}

#[test]
fn a_drift_after_a_step_is_both() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    for (n, share, is_drift) in [(15, 0.015, true), (10, 0.02, true), (15, 0.0, false)] {
        let level = |at: u32| match at.checked_sub(10) {
            Some(since) => 50.0 * (1.0 + share * f64::from(since)),
            None => 100.0,
        };
        let figures: Vec<f64> = (0..10 + n)
            .map(|at| level(at) * (0.006 * normal(&mut random)).exp())
            .collect();
        let found = history(&figures, &usual()).unwrap();
        let [change] = found.changes.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((change.at, change.is_suspect), (10, false));
        assert_close(change.ratio, 0.5, 0.02);
        match found.course {
            Course::Drifting { from, ratio, .. } if is_drift => {
                assert_eq!(from, 10);
                assert_close(ratio, 1.0 + share * f64::from(n - 1), 0.02);
                assert!(found.last.is_none());
            }
            Course::Stepped if !is_drift => assert!(found.last.is_some()),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_change_that_one_figure_carries_makes_no_level() {
    let mut figures: Vec<f64> = (0..12).map(|at| 100.0 + f64::from(at % 3)).collect();
    figures.extend([104.0, 160.0]);
    let found = history(&figures, &usual()).unwrap();
    assert!(found.changes.iter().all(|c| c.is_suspect), "{found:?}");
    // The last is compared with all thirteen.
    assert!(found.is_last_novel(&usual()));
    assert_close(found.last.unwrap().expected, 101.2, 0.01);
}

#[test]
fn correlated_noise_wanders() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut claimed, mut wanders) = (0, 0);
    for _ in 0..100 {
        let mut at = 0.0;
        let figures: Vec<f64> = (0..40)
            .map(|_| {
                at = 0.6 * at + 0.024 * normal(&mut random);
                100.0 * f64::exp(at)
            })
            .collect();
        let found = history(&figures, &usual()).unwrap();
        claimed += usize::from(!found.changes.is_empty());
        wanders += usize::from(matches!(found.course, Course::Wandering { .. }));
    }
    assert!(
        claimed <= 10 && wanders > 0,
        "{claimed} of 100, {wanders} wander"
    );
}

#[test]
fn noise_alone_is_steady() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut claimed = 0;
    for _ in 0..300 {
        let figures: Vec<f64> = (0..20)
            .map(|_| (0.05 * normal(&mut random)).exp())
            .collect();
        claimed += usize::from(history(&figures, &usual()).unwrap().course != Course::Steady);
    }
    assert!(claimed <= 9, "{claimed} of 300");
}

#[test]
fn a_long_history_is_searched_for_all_its_changes() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let level = |i: u32| match i {
        30..60 => 120.0,
        0..90 => 100.0,
        _ => 80.0,
    };
    let figures: Vec<f64> = (0..120)
        .map(|i| level(i) * (0.02 * normal(&mut random)).exp())
        .collect();
    assert_eq!(places(&figures, &usual()), [30, 60, 90]);
}

#[test]
fn too_few_releases_are_refused_with_what_to_do() {
    let few = history(&[1.0; 4], &usual()).unwrap_err();
    assert_eq!(few, NoClaim::TooFew { have: 4 });
    assert_eq!(
        few.to_string(),
        "4 releases say nothing of change: 5 are needed, or `slowpath ab`"
    );
    for have in 5..8 {
        let pairs = history(&vec![1.0; have], &usual()).unwrap_err();
        assert_eq!(pairs, NoClaim::PairsOnly { have });
    }
    let mut figures = [1.0; 8];
    assert_eq!(history(&figures, &usual()).unwrap().course, Course::Steady);
    figures[3] = 0.0;
    assert_eq!(
        history(&figures, &usual()).unwrap_err(),
        NoClaim::NotPositive { index: 3 }
    );
}
