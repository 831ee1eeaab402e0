//! What a design can see.

use slowpath_core::stats::power::Design;

use super::vectors::{number, vectors};

/// Computed with scipy's noncentral t, printed with four decimals.
#[test]
fn detectable_ratios_of_vectors() {
    let vectors = vectors();
    let family = "MDE ratio-1, paired n, sd_log of pair difference s, 80% power 5% two sided (t)";
    for pairs in [3, 5, 8, 10, 20] {
        for sd in [0.02, 0.05, 0.1] {
            let path = [family, &format!("n={pairs} s={sd}")];
            let expected = number(&vectors, &path);
            let found = Design::default().detectable_ratio(pairs, sd).unwrap() - 1.0;
            assert!(
                (found - expected).abs() < 6e-5,
                "{pairs} {sd}: {found} {expected}"
            );
        }
    }
}

#[test]
fn pairs_needed_are_those_that_detect() {
    let design = Design::default();
    let detectable = design.detectable_ratio(8, 0.05).unwrap();
    assert_eq!(design.pairs_needed(detectable * 1.0001, 0.05, 50), Some(8));
    assert_eq!(design.pairs_needed(detectable * 0.9999, 0.05, 50), Some(9));
    assert_eq!(
        design.pairs_needed(1.0 / (detectable * 1.0001), 0.05, 50),
        Some(8)
    );
    assert_eq!(design.pairs_needed(1.001, 0.05, 50), None);
    assert_eq!(design.detectable_ratio(1, 0.05), None);
}

/// No difference is "found" as often as alpha says, whatever is known of the scatter.
#[test]
fn power_without_a_difference_is_alpha() {
    for prior_df in [0.0, 3.5, 10.0, 1e4, f64::INFINITY] {
        let design = Design {
            prior_df,
            ..Design::default()
        };
        for pairs in [2, 3, 5, 40] {
            let found = design.power_for(1.0, pairs, 0.1);
            assert!((found - 0.05).abs() < 1e-6, "{prior_df} {pairs}: {found}");
        }
    }
}

#[test]
fn a_prior_sees_more_and_a_stricter_test_less() {
    let plain = Design::default();
    let moderated = Design {
        prior_df: 10.0,
        ..plain
    };
    let strict = Design {
        alpha: 0.001,
        ..plain
    };
    let of = |design: Design| design.detectable_ratio(5, 0.05).unwrap();
    assert!(of(moderated) < of(plain) && of(plain) < of(strict));
}
