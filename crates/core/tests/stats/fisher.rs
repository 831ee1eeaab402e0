use proptest::prelude::*;
use slowpath_core::stats::fisher::{Fisher, Table, at_least_of, fisher};

use super::laws::laws;
use super::vectors::assert_close;

fn table(with_hit: u64, with_miss: u64, without_hit: u64, without_miss: u64) -> Fisher {
    fisher(Table {
        with_hit,
        with_miss,
        without_hit,
        without_miss,
    })
}

/// Fisher's tea tasting: 17/70 and 34/70.
#[test]
fn the_lady_tasting_tea() {
    let found = table(3, 1, 1, 3);
    assert_close(found.greater, 17.0 / 70.0, 1e-12);
    assert_close(found.less, 69.0 / 70.0, 1e-12);
    assert_close(found.two_sided, 34.0 / 70.0, 1e-12);
}

/// Convictions of twins, from the documentation of R's `fisher.test`.
#[test]
fn convictions_of_twins() {
    let found = table(2, 15, 10, 3);
    assert_close(found.less, 0.000_465_180_911_7, 1e-6);
    assert_close(found.two_sided, 0.000_536_724_118_9, 1e-6);
}

#[test]
fn degenerate_tables_prove_nothing() {
    for found in [
        table(0, 0, 0, 0),
        table(0, 0, 5, 7),
        table(4, 6, 0, 0),
        table(5, 0, 7, 0),
    ] {
        assert_close(found.greater, 1.0, 1e-12);
        assert_close(found.less, 1.0, 1e-12);
        assert_close(found.two_sided, 1.0, 1e-12);
    }
}

#[test]
fn large_tables_stay_finite() {
    let found = table(5000, 95_000, 40_000, 860_000);
    assert!(found.greater > 0.0 && found.greater < 1e-10, "{found:?}");
    assert_close(found.less, 1.0, 1e-6);
}

proptest! {
    #![proptest_config(laws(256))]

    #[test]
    fn p_values_agree_with_each_other(
        with_hit in 0u64..30,
        with_miss in 0u64..30,
        without_hit in 0u64..30,
        without_miss in 0u64..30,
    ) {
        let found = table(with_hit, with_miss, without_hit, without_miss);
        for p in [found.greater, found.less, found.two_sided] {
            prop_assert!(p > 0.0 && p <= 1.0);
        }
        // Both one-sided tests count the observed table.
        prop_assert!(found.greater + found.less >= 1.0);
        prop_assert!(found.two_sided >= found.greater.min(found.less) - 1e-12);
        let swapped = table(without_hit, without_miss, with_hit, with_miss);
        prop_assert!((found.greater - swapped.less).abs() < 1e-9);
        prop_assert!((found.two_sided - swapped.two_sided).abs() < 1e-9);
    }
}

#[test]
fn as_many_have_it_at_least_as_make_what_was_drawn_likely() {
    // All five of seven that were drawn have it: of five it would be a chance of 1 in 21, of six 6 in 21.
    assert_eq!(at_least_of(7, 5, 5), 6);
    // Three of three: of eight of twenty it would be 56 of 1140 draws, of nine 84.
    assert_eq!(at_least_of(20, 3, 3), 9);
    assert_eq!(at_least_of(20, 20, 4), 4);
    assert_eq!(at_least_of(20, 0, 0), 0);
    assert_eq!(at_least_of(20, 10, 0), 0);
}

proptest! {
    #[test]
    fn at_least_what_was_seen_have_it_and_at_most_what_could(all in 0_u64..60, drawn in 0_u64..60, hits in 0_u64..60) {
        let drawn = drawn.min(all);
        let hits = hits.min(drawn);
        let least = at_least_of(all, drawn, hits);
        prop_assert!((hits..=all - (drawn - hits)).contains(&least));
    }
}
