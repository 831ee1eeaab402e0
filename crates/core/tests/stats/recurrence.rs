//! What comes back, and what only seems to.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use slowpath_core::stats::recurrence::{Recurring, Says, Seen, recurring, together, worst};

use super::noise::{normal, unit};
use super::vectors::assert_close;

const RANGE: (f64, f64) = (1.0, 1000.0);

fn seen(values: &[f64]) -> Vec<Seen> {
    let exact = |&value: &f64| Seen {
        value,
        half_width: 0.0,
        quantum: 0.0,
        p: 0.0,
    };
    values.iter().map(exact).collect()
}

#[test]
fn a_constant_in_every_release_is_beyond_chance() {
    let releases = [
        seen(&[3.1, 40.2, 440.0]),
        seen(&[5.0, 39.9, 120.0]),
        seen(&[7.7, 40.0, 800.0]),
    ];
    let found = recurring(&releases, RANGE);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_close(found[0].value, 40.0, 1e-9);
    assert_eq!(found[0].groups, [0, 1, 2]);
    // 3 (2 * 0.02 * 3 / ln 1000)^2
    assert_close(found[0].chance, 9.053e-4, 1e-3);
    assert!(found[0].is_claimed());
}

#[test]
fn a_constant_in_two_of_three_releases_is_not() {
    let releases = [seen(&[3.1, 40.2]), seen(&[5.0, 39.9]), seen(&[7.7, 90.0])];
    let found = recurring(&releases, RANGE);
    assert_eq!((found.len(), found[0].groups.as_slice()), (1, &[0, 1][..]));
    assert!(!found[0].is_claimed(), "{found:?}");
    assert!(recurring(&[seen(&[40.0])], RANGE).is_empty());
    assert!(recurring(&[], RANGE).is_empty());
}

#[test]
fn a_coarse_clock_or_a_wide_interval_widens_the_search_and_costs_certainty() {
    let with = |half_width: f64, quantum: f64| {
        let release = |value| {
            vec![Seen {
                value,
                half_width,
                quantum,
                p: 0.0,
            }]
        };
        recurring(&[release(10.0), release(11.0), release(10.0)], RANGE)
    };
    assert_eq!(with(0.0, 0.0)[0].groups, [0, 2]);
    for wide in [with(1.2, 0.0), with(0.0, 1.2)] {
        assert_eq!(wide[0].groups, [0, 1, 2]);
        assert!(wide[0].chance > 1e-3, "{wide:?}");
    }
    // Where nothing else was possible, a recurrence says nothing.
    assert!(recurring(&[seen(&[5.0]), seen(&[5.0])], (5.0, 5.0))[0].chance >= 1.0);
}

#[test]
fn constants_that_are_scattered_recur_as_rarely_as_the_bound_says() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let mut claimed = 0;
    for _ in 0..1000 {
        let releases: Vec<Vec<Seen>> = (0..4)
            .map(|_| seen(&[0, 1, 2].map(|_| 1000_f64.powf(unit(&mut random)))))
            .collect();
        claimed += usize::from(
            recurring(&releases, RANGE)
                .iter()
                .any(Recurring::is_claimed),
        );
    }
    assert!(claimed <= 10, "{claimed} of 1000");
}

#[test]
fn what_may_be_none_does_not_come_back_by_being_seen_often() {
    let with = |ps: [f64; 4]| {
        let release = |p| {
            vec![Seen {
                value: 200.0,
                half_width: 0.0,
                quantum: 0.0,
                p,
            }]
        };
        let found = recurring(&ps.map(release), RANGE);
        assert_eq!(found.len(), 1);
        found[0].chance
    };
    // (2 * 0.02 / ln 1000)^3
    let bound = (0.04 / 1000_f64.ln()).powi(3);
    assert_close(with([0.0; 4]), bound, 1e-9);
    assert_close(with([0.02, 0.03, 0.02, 1e-9]), 0.02, 1e-9);
    assert_close(with([1e-9, 0.0, 1e-9, 0.03]), bound, 1e-2);
}

/// Runs in which a row is worst.
fn runs(rows: usize, worst: &[usize]) -> Vec<Vec<Option<f64>>> {
    let run = |&worst: &usize| {
        (0..rows)
            .map(|row| {
                Some(if row == worst {
                    9.0
                } else {
                    1.0 + row as f64 / 10.0
                })
            })
            .collect()
    };
    worst.iter().map(run).collect()
}

#[test]
fn the_same_row_each_time_is_that_row_and_another_each_time_is_shared() {
    let stays = worst(&runs(8, &[2, 2, 2, 5, 2])).unwrap();
    assert_eq!((stays.row, stays.times, stays.runs), (2, 4, 5));
    // 8 P(Bin(5, 1/8) >= 4)
    assert_close(stays.chance, 8.0 * (5.0 * 7.0 + 1.0) / 32_768.0, 1e-9);
    assert_eq!(stays.says, Says::Stays);
    let wanders = worst(&runs(8, &[2, 0, 7, 5, 3])).unwrap();
    assert_eq!((wanders.times, wanders.says), (1, Says::Wanders));
    // More often than one of fifteen by chance, and not the row that is slow all the same.
    let often = worst(&runs(15, &[1, 1, 1, 1, 1, 1, 0, 0, 2, 2, 2, 2, 3, 4])).unwrap();
    assert!(often.chance < 0.01, "{}", often.chance);
    assert_eq!((often.times, often.says), (6, Says::Wanders));
    let few = worst(&runs(8, &[2, 2])).unwrap();
    assert_eq!(few.says, Says::CannotTell);
    let two_rows = worst(&runs(2, &[0, 0, 0, 0, 1])).unwrap();
    assert_eq!(two_rows.says, Says::CannotTell);
    assert_eq!(worst(&[]), None);
    assert_eq!(worst(&[vec![Some(1.0)], vec![None, Some(2.0)]]), None);
}

#[test]
fn rows_share_what_is_slow_only_if_they_rise_together() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut counts = [0; 2];
    for (at, common) in [0.0, 2.0].into_iter().enumerate() {
        for _ in 0..200 {
            let figures: Vec<Vec<Option<f64>>> = (0..10)
                .map(|_| {
                    let of_run = common * normal(&mut random);
                    let row = |_| Some((of_run + normal(&mut random)).exp());
                    (0..6).map(row).collect()
                })
                .collect();
            let found = worst(&figures).unwrap();
            assert_ne!(found.says, Says::Stays);
            counts[at] += u32::from(found.says == Says::Shares);
        }
    }
    // 1 % of rows that are alike and independent: more than 7 of 200 would have a chance of 0.1 %.
    assert!(counts[0] <= 7 && counts[1] > 150, "{counts:?}");
}

#[test]
fn rows_that_rank_runs_alike_are_together() {
    // Three rows that rank four runs alike: chi squared 3 * 3 = 9 with 3 degrees, p 0.0293.
    let alike: Vec<Vec<Option<f64>>> = (0..4)
        .map(|run| (0..3).map(|row| Some(f64::from(run * 3 + row))).collect())
        .collect();
    assert_close(together(&alike).unwrap(), 0.029_291, 1e-4);
    assert_eq!(together(&alike[..2]), None);
    let equal = vec![vec![Some(1.0); 3]; 4];
    assert_eq!(together(&equal), None);
}
