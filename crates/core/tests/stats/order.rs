//! Intervals by ranks, and quantiles between samples.

use proptest::prelude::*;
use slowpath_core::stats::interpolated::type_7;
use slowpath_core::stats::order::{TooFew, median, needed, ranks};

use super::estimators::{harrell_davis, type_8};
use super::laws::laws;
use super::vectors::{assert_close, number, vectors};

#[test]
fn ranks_of_vectors() {
    let vectors = vectors();
    for (n, p) in [
        (6, "0.5"),
        (8, "0.5"),
        (20, "0.5"),
        (100, "0.5"),
        (100, "0.9"),
        (1000, "0.99"),
        (10_000, "0.99"),
        (10_000, "0.999"),
    ] {
        let found = ranks(n, p.parse().unwrap(), 0.95).unwrap();
        let name = format!("n={n} p={p}");
        let of = |key| number(&vectors, &["order_stat_ci_1based", &name, key]);
        assert_close(found.low as f64, of("lo_rank"), 0.0);
        assert_close(found.high as f64, of("hi_rank"), 0.0);
        assert_close(found.confidence, of("coverage"), 1e-9);
    }
}

/// The test of Go's benchstat (golang.org/x/perf, benchmath).
#[test]
fn the_median_as_benchstat_prints_it() {
    let found = median(&[-10.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).unwrap();
    assert_close(found.median, 3.5, 0.0);
    assert_close(found.low, -10.0, 0.0);
    assert_close(found.high, 6.0, 0.0);
    assert_close(found.confidence, 0.96875, 1e-12);
    let refused = median(&[-10.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.99).unwrap_err();
    assert_eq!(refused, TooFew { needs: 8, have: 6 });
    assert_eq!(refused.to_string(), "need >= 8 for this confidence, have 6");
    assert_eq!(median(&[], 0.95), Err(TooFew { needs: 6, have: 0 }));
    assert_eq!(needed(0.5, 0.95), 6);
}

#[test]
fn one_sided_needs_of_vectors() {
    let vectors = vectors();
    for p in ["0.5", "0.9", "0.95", "0.99", "0.999", "0.9999"] {
        let expected = number(&vectors, &["min_n_one_sided95_upper", p]);
        // One side of an interval with 90 %.
        assert_eq!(needed(p.parse().unwrap(), 0.9), expected as u64, "{p}");
    }
}

/// R's `quantile(type = 7)` and `type = 8`, scipy's `hdquantiles`.
#[test]
fn interpolated_quantiles_of_vectors() {
    let vectors = vectors();
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0];
    for p in ["0.5", "0.9", "0.95", "0.99"] {
        let share: f64 = p.parse().unwrap();
        assert_close(
            type_7(&x, share).unwrap(),
            number(&vectors, &["q_type7", p]),
            1e-9,
        );
        assert_close(
            type_8(&x, share).unwrap(),
            number(&vectors, &["q_type8", p]),
            1e-9,
        );
    }
    for p in ["0.25", "0.5", "0.9"] {
        let expected = number(&vectors, &["harrell_davis", p]);
        assert_close(
            harrell_davis(&x, p.parse().unwrap()).unwrap(),
            expected,
            1e-9,
        );
    }
    assert_eq!(type_7(&[], 0.5), None);
    assert_eq!(type_8(&[], 0.5), None);
    assert_eq!(harrell_davis(&[], 0.5), None);
    assert_close(type_8(&x, 0.0).unwrap(), 1.0, 0.0);
}

proptest! {
    #![proptest_config(laws(64))]

    /// Harrell and Davis's weights are a mean, and no estimate leaves the sample.
    #[test]
    fn interpolated_quantiles_are_ordered(
        mut x in prop::collection::vec(0.0..1e6f64, 1..60),
        p in 0.01..0.99f64,
    ) {
        x.sort_unstable_by(f64::total_cmp);
        for quantile in [type_7, type_8, harrell_davis] {
            let (found, above) = (quantile(&x, p).unwrap(), quantile(&x, (p + 0.01).min(0.995)));
            prop_assert!(x[0] - 1e-6 <= found && found <= x[x.len() - 1] + 1e-6);
            prop_assert!(found <= above.unwrap() + 1e-6);
        }
    }

    /// The interval by ranks has at least the confidence that was asked for.
    #[test]
    fn ranks_keep_their_confidence(n in 6u64..400, p in 0.1..0.9f64) {
        match ranks(n, p, 0.95) {
            Ok(found) => {
                prop_assert!(found.confidence >= 0.95 - 1e-12);
                prop_assert!(1 <= found.low && found.low < found.high && found.high <= n);
            }
            Err(refused) => prop_assert!(refused.needs > n),
        }
    }
}
