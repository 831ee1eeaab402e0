use slowpath_core::stats::bootstrap::share_interval;

use super::grids::Noise;
use super::vectors::assert_close;

#[test]
fn a_constant_share_has_no_width() {
    let excess = [1.0, 2.0, 30.0, 4.0, 5.0, 6.0];
    let claims = excess.map(|excess| excess * 0.25);
    let found = share_interval(&claims, &excess, 1).unwrap();
    assert_close(found.share, 0.25, 1e-12);
    assert_close(found.low, 0.25, 1e-12);
    assert_close(found.high, 0.25, 1e-12);
}

/// Half of a hundred equal episodes claimed: the share is binomial, 0.5 with a standard error of
/// 0.05, of which the percentile interval spans 1.96 on either side.
#[test]
fn all_or_nothing_claims_scatter_binomially() {
    let claims: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
    let found = share_interval(&claims, &[1.0; 100], 7).unwrap();
    assert_close(found.share, 0.5, 1e-12);
    assert!((found.low - 0.402).abs() <= 0.02, "{found:?}");
    assert!((found.high - 0.598).abs() <= 0.02, "{found:?}");
    assert_eq!(share_interval(&claims, &[1.0; 100], 7), Some(found));
}

#[test]
fn one_dominant_episode_makes_the_share_uncertain() {
    let mut excess = [1.0; 20];
    excess[0] = 100.0;
    let mut claims = [0.0; 20];
    claims[0] = 100.0;
    let found = share_interval(&claims, &excess, 7).unwrap();
    assert!(found.share > 0.8);
    assert_close(found.low, 0.0, 0.0);
    assert!(found.high > 0.9);
}

#[test]
fn without_excess_there_is_no_share() {
    assert!(share_interval(&[], &[], 1).is_none());
    assert!(share_interval(&[0.0, 0.0], &[0.0, 0.0], 1).is_none());
}

/// The interval holds the true share about as often as it says. Forty episodes of exponential
/// excess, of each of which a uniform part with mean 0.6 is claimed.
#[test]
fn covers_the_true_share() {
    const RUNS: u64 = 150;
    let covered = (0..RUNS)
        .filter(|&seed| {
            let mut noise = Noise::new(seed);
            let excess: Vec<f64> = (0..40).map(|_| -noise.uniform().ln()).collect();
            let claims: Vec<f64> = excess
                .iter()
                .map(|excess| excess * (0.2 + 0.8 * noise.uniform()))
                .collect();
            let found = share_interval(&claims, &excess, seed).unwrap();
            found.low <= 0.6 && 0.6 <= found.high
        })
        .count();
    assert!(covered as f64 >= 0.88 * RUNS as f64, "{covered} of {RUNS}");
}
