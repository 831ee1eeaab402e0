use proptest::prelude::*;
use slowpath_core::stats::permutation::{DRAWN, Statistic, permutation};

use super::laws::laws;
use super::vectors::{assert_close, number, vectors};

const BOTH: [Statistic; 2] = [Statistic::Mean, Statistic::Median];

/// `n` values from `from` on, one apart.
fn run_of(n: u32, from: f64) -> Vec<f64> {
    (0..n).map(|i| from + f64::from(i)).collect()
}

/// Separated groups have the smallest p there is: two assignments of all, as in a rank test.
#[test]
fn smallest_p_of_vectors() {
    let vectors = vectors();
    for n in 3..=10 {
        let path = ["min_two_sided_p", "mann_whitney n v n", &n.to_string()];
        let found = permutation(&run_of(n, 0.0), &run_of(n, 100.0), Statistic::Mean, 0).unwrap();
        assert_close(found.two_sided, number(&vectors, &path), 1e-12);
        assert!(found.exact);
    }
}

#[test]
fn six_against_six_is_one_in_924() {
    let (low, high) = (run_of(6, 0.0), run_of(6, 100.0));
    let up = permutation(&low, &high, Statistic::Mean, 0).unwrap();
    assert_eq!(up.assignments, 924);
    assert_close(up.effect, 100.0, 1e-12);
    assert_close(up.greater, 1.0 / 924.0, 1e-12);
    assert_close(up.less, 1.0, 1e-12);
    let down = permutation(&high, &low, Statistic::Mean, 0).unwrap();
    assert_close(down.less, 1.0 / 924.0, 1e-12);
    assert_close(down.effect, -100.0, 1e-12);
}

/// By hand: of the six ways to choose two of 1, 2, 3, 10, B = {3, 10} has the largest mean and
/// only A = {3, 10} is as far to the other side.
#[test]
fn small_enough_to_count_by_hand() {
    for statistic in BOTH {
        let found = permutation(&[1.0, 2.0], &[3.0, 10.0], statistic, 0).unwrap();
        assert_close(found.effect, 5.0, 1e-12);
        assert_close(found.greater, 1.0 / 6.0, 1e-12);
        assert_close(found.two_sided, 2.0 / 6.0, 1e-12);
        let found = permutation(&[1.0, 10.0], &[2.0, 3.0], Statistic::Median, 0).unwrap();
        assert_close(found.effect, -3.0, 1e-12);
        assert_close(found.less, 3.0 / 6.0, 1e-12);
    }
}

/// The mean follows one huge block; the median does not.
#[test]
fn the_median_is_not_moved_by_one_block() {
    let a = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5];
    let b = [1.05, 1.15, 1.25, 1.35, 1.45, 50.0];
    let mean = permutation(&a, &b, Statistic::Mean, 0).unwrap();
    let median = permutation(&a, &b, Statistic::Median, 0).unwrap();
    assert!(mean.effect > 8.0 && median.effect < 0.1);
    assert!(mean.two_sided > 0.05 && median.two_sided > 0.05);
}

#[test]
fn ties_count_as_extreme() {
    let found = permutation(&[0.1; 6], &[0.1; 6], Statistic::Mean, 0).unwrap();
    assert_close(found.two_sided, 1.0, 0.0);
    assert_close(found.greater, 1.0, 0.0);
    assert_close(found.less, 1.0, 0.0);
}

#[test]
fn large_groups_are_drawn_and_reproducible() {
    let (a, b) = (run_of(20, 0.0), run_of(20, 4.0));
    let found = permutation(&a, &b, Statistic::Mean, 9).unwrap();
    assert!(!found.exact);
    assert_eq!(found.assignments, DRAWN + 1);
    assert_eq!(permutation(&a, &b, Statistic::Mean, 9), Some(found));
    // The effect of 4 is 2.046 standard errors, 1.955 being sqrt(37.25 * 40/39 * 2/20).
    assert!((found.two_sided - 0.0408).abs() < 0.003, "{found:?}");
    let far = permutation(&a, &run_of(20, 1000.0), Statistic::Mean, 9).unwrap();
    assert_close(far.greater, 1.0 / (DRAWN as f64 + 1.0), 1e-12);
}

#[test]
fn an_empty_group_has_no_test() {
    assert!(permutation(&[], &[1.0], Statistic::Mean, 0).is_none());
    assert!(permutation(&[1.0], &[], Statistic::Median, 0).is_none());
}

proptest! {
    #![proptest_config(laws(64))]
    #[test]
    fn p_values_are_probabilities_of_something_that_happened(
        a in prop::collection::vec(-1e3..1e3, 1..7),
        b in prop::collection::vec(-1e3..1e3, 1..7),
    ) {
        for statistic in BOTH {
            let found = permutation(&a, &b, statistic, 1).unwrap();
            for p in [found.two_sided, found.greater, found.less] {
                prop_assert!(p >= 1.0 / found.assignments as f64 && p <= 1.0);
            }
            let swapped = permutation(&b, &a, statistic, 1).unwrap();
            prop_assert!((found.greater - swapped.less).abs() < 1e-12);
            prop_assert!((found.two_sided - swapped.two_sided).abs() < 1e-12);
        }
    }
}
