use proptest::prelude::*;
use slowpath_core::stats::fisher::{Fisher, Table, fisher};

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
