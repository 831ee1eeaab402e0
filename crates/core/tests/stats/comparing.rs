//! Comparisons against R, limma and scipy.

use slowpath_core::stats::log_ratio::{Answer, EQUIVALENT_WITHIN, NotComparable};
use slowpath_core::stats::moderated::{Prior, moderated};
use slowpath_core::stats::paired::{agreeing, differences, logit, of_differences, paired};
use slowpath_core::stats::ranks::{least_p, mann_whitney, signed_rank};
use slowpath_core::stats::welch::welch;
use slowpath_core::stats::{fdr, paired as pairs};

use super::estimators::hodges_lehmann;
use super::vectors::{assert_close, number, numbers, vectors};

const A: [f64; 5] = [101.0, 98.0, 103.0, 99.0, 100.0];
const B: [f64; 5] = [108.0, 104.0, 111.0, 107.0, 103.0];

/// `t.test(log(B), log(A), paired = TRUE)` of R.
#[test]
fn paired_t_as_in_r() {
    let vectors = vectors();
    let found = paired(&A, &B).unwrap();
    let of = |key| number(&vectors, &["paired_t_log", key]);
    let interval = numbers(&vectors, &["paired_t_log", "ci"]);
    assert_close(found.ratio, of("ratio"), 1e-9);
    assert_close(found.t(), of("t"), 1e-9);
    assert_close(found.p, of("p"), 1e-9);
    assert_close(found.low, interval[0], 1e-9);
    assert_close(found.high, interval[1], 1e-9);
    assert_close(found.df, 4.0, 0.0);
}

/// `t.test(log(B), log(A))` of R.
#[test]
fn welch_as_in_r() {
    let vectors = vectors();
    let found = welch(&A, &B).unwrap();
    let of = |key| number(&vectors, &["welch_t_log", key]);
    let interval = numbers(&vectors, &["welch_t_log", "ci"]);
    assert_close(found.t(), of("t"), 1e-9);
    assert_close(found.df, of("df"), 1e-9);
    assert_close(found.p, of("p"), 1e-9);
    assert_close(found.low, interval[0], 1e-9);
    assert_close(found.high, interval[1], 1e-9);
}

/// Two workers against one, and what is said of the expected 1.8 to 2.2.
#[test]
fn a_ratio_and_its_band() {
    let vectors = vectors();
    let found = welch(&[205.0, 199.0, 210.0], &[410.0, 402.0, 418.0]).unwrap();
    let interval = numbers(&vectors, &["ratio_band", "ci"]);
    assert_close(
        found.ratio,
        number(&vectors, &["ratio_band", "ratio"]),
        1e-9,
    );
    assert_close(found.low, interval[0], 1e-9);
    assert_close(found.high, interval[1], 1e-9);
    assert_eq!(found.within(1.8, 2.2), Answer::Confirmed);
    assert_eq!(found.within(0.9, 1.1), Answer::Refuted);
    assert_eq!(found.within(1.8, 2.0), Answer::Undetermined);
    assert_eq!(found.within(f64::NEG_INFINITY, 1.5), Answer::Refuted);
}

#[test]
fn an_inversion_is_one_sided() {
    let found = paired(&A, &B).unwrap();
    assert_close(found.p_above(1.0), found.p / 2.0, 1e-12);
    assert_close(found.p_below(1.0), 1.0 - found.p / 2.0, 1e-12);
    assert_close(found.p_above(found.ratio), 0.5, 1e-9);
}

#[test]
fn equivalence_needs_a_narrow_interval() {
    let same = [100.0, 101.0, 99.0, 100.5, 99.5];
    let near = [101.0, 100.5, 100.0, 100.0, 100.4];
    assert!(
        paired(&same, &near)
            .unwrap()
            .is_equivalent(EQUIVALENT_WITHIN)
    );
    let noisy = [130.0, 80.0, 95.0, 120.0, 85.0];
    let found = paired(&same, &noisy).unwrap();
    assert!(
        found.p > 0.5 && !found.is_equivalent(EQUIVALENT_WITHIN),
        "{found:?}"
    );
    assert!(!paired(&A, &B).unwrap().is_equivalent(EQUIVALENT_WITHIN));
}

#[test]
fn what_cannot_be_compared_says_why() {
    let told = |found: Result<_, NotComparable>| found.unwrap_err().to_string();
    assert_eq!(told(paired(&[1.0], &[2.0])), "needs 2, have 1");
    assert_eq!(
        told(paired(&[1.0, 2.0], &[2.0])),
        "2 runs of A cannot be paired with 1 of B"
    );
    assert_eq!(
        told(welch(&[1.0, 0.0], &[2.0, 1.0])),
        "0 has no ratio to anything: figures must be above 0 and finite"
    );
    assert!(paired(&[1.0, f64::NAN], &[2.0, 1.0]).is_err());
}

/// t knows nothing of figures that do not scatter; their signs still count as such.
#[test]
fn figures_without_scatter_have_the_p_of_their_signs() {
    let found = paired(&[100.0, 200.0, 300.0], &[110.0, 220.0, 330.0]).unwrap();
    assert_close(found.p, 0.25, 1e-12);
    assert_close(found.p_above(1.0), 0.125, 1e-12);
    assert_close(found.low, 1.1, 1e-12);
    assert_close(found.high, 1.1, 1e-12);
    assert!(found.t().is_infinite());
    let same = paired(&[7.0; 4], &[7.0; 4]).unwrap();
    assert_close(same.p, 1.0, 0.0);
    assert_close(same.t(), 0.0, 0.0);
    assert!(same.is_equivalent(EQUIVALENT_WITHIN));
    assert_close(welch(&[1.0; 3], &[2.0; 3]).unwrap().p, 0.1, 1e-12);
}

/// `limma::squeezeVar` of R.
#[test]
fn variances_are_squeezed_as_in_limma() {
    let vectors = vectors();
    let seen = numbers(&vectors, &["limma_squeeze", "case2", "s2"]);
    let series: Vec<(f64, f64)> = seen.iter().map(|&variance| (variance, 4.0)).collect();
    let prior = Prior::fit(&series).unwrap();
    let of = |key| number(&vectors, &["limma_squeeze", "case2", key]);
    assert_close(prior.df, of("d0"), 1e-9);
    assert_close(prior.variance, of("s0"), 1e-9);
    let expected = numbers(&vectors, &["limma_squeeze", "case2", "post"]);
    for (&seen, expected) in seen.iter().zip(expected) {
        assert_close(prior.posterior(seen, 4.0), expected, 1e-9);
    }
}

#[test]
fn series_that_scatter_alike_have_one_variance() {
    let vectors = vectors();
    let seen = numbers(&vectors, &["limma_squeeze", "case1", "s2"]);
    let series: Vec<(f64, f64)> = seen.iter().map(|&variance| (variance, 4.0)).collect();
    let prior = Prior::fit(&series).unwrap();
    assert!(prior.df.is_infinite());
    // The mean of the variances, which limma takes since its version 3.
    assert_close(prior.variance, 0.001_475, 1e-9);
    assert_close(prior.posterior(seen[4], 4.0), 0.001_475, 1e-9);
    assert!(Prior::fit(&series[..7]).is_none());
}

#[test]
fn a_coarse_timer_does_not_make_a_prior_of_nothing() {
    let mut series = vec![(0.0, 4.0); 4];
    series.extend([(4e-4, 4.0); 5]);
    let prior = Prior::fit(&series).unwrap();
    assert!(prior.variance > 0.0 && prior.df > 0.0, "{prior:?}");
    assert!(Prior::fit(&[(0.0, 4.0); 9]).is_none());
}

/// A series of eight whose pairs happen to agree well is not believed; one that scatters is.
#[test]
fn moderation_borrows_scatter() {
    let wave = [0.03, -0.05, 0.06, -0.02, -0.04];
    let mut level: Vec<Vec<f64>> = (1..=9)
        .map(|i| {
            wave.iter()
                .map(|d| d * (0.6 + 0.1 * f64::from(i)))
                .collect()
        })
        .collect();
    level.push(vec![0.025, 0.035, 0.030, 0.020, 0.040]);
    let slices: Vec<&[f64]> = level.iter().map(Vec::as_slice).collect();
    let found = moderated(&slices);
    let lucky = found[9].unwrap();
    let plain = of_differences(&level[9]).unwrap();
    assert_close(lucky.ratio, plain.ratio, 1e-12);
    assert!(plain.p < 0.002 && lucky.p > 0.02, "{} {}", plain.p, lucky.p);
    assert!(lucky.df > plain.df);
    // Eight at most are lent, though these series differ little more than by chance.
    assert!(found.iter().all(|ratio| ratio.unwrap().df <= 12.0));
    let few = moderated(&slices[3..]);
    assert_eq!(few[6].unwrap(), plain, "seven series moderate nothing");
}

#[test]
fn a_series_that_cannot_be_compared_stays_one() {
    let wave: &[f64] = &[0.03, -0.05, 0.06];
    let found = moderated(&[wave, &[0.1], wave]);
    assert_eq!(found[1], Err(NotComparable::TooFew { needs: 2, have: 1 }));
    assert_eq!(found[0], found[2]);
}

/// `p.adjust` of R and `scipy.stats.false_discovery_control`.
#[test]
fn false_discovery_rates_as_in_r() {
    let ps = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074];
    let bh = [0.007, 0.028, 0.0588, 0.0588, 0.0588, 0.07, 0.074];
    let by = [
        0.01815,
        0.0726,
        0.15246,
        0.15246,
        0.15246,
        0.1815,
        0.191_871_43,
    ];
    for (found, expected) in fdr::benjamini_hochberg(&ps).into_iter().zip(bh) {
        assert_close(found, expected, 1e-9);
    }
    for (found, expected) in fdr::benjamini_yekutieli(&ps).into_iter().zip(by) {
        assert_close(found, expected, 1e-8);
    }
    let vectors = vectors();
    let family = "BH_adjust (Benjamini-Hochberg 25 p-values, scipy.false_discovery_control)";
    let mut ps = numbers(&vectors, &[family, "p"]);
    let (mut bh, mut by) = (
        numbers(&vectors, &[family, "bh"]),
        numbers(&vectors, &[family, "by"]),
    );
    // The order in which they are given is the order in which they come back.
    ps.reverse();
    bh.reverse();
    by.reverse();
    // Printed with six decimals.
    for (found, expected) in fdr::benjamini_hochberg(&ps).into_iter().zip(bh) {
        assert!((found - expected).abs() < 5.1e-7, "{found} {expected}");
    }
    for (found, expected) in fdr::benjamini_yekutieli(&ps).into_iter().zip(by) {
        assert!((found - expected).abs() < 5.1e-7, "{found} {expected}");
    }
}

/// `scipy.stats.mannwhitneyu(method = "exact")` and `wilcoxon`.
#[test]
fn rank_tests_as_in_scipy() {
    let vectors = vectors();
    let found = mann_whitney(&A, &B).unwrap();
    assert!(found.exact);
    let of = |test, key| number(&vectors, &[test, key]);
    assert_close(found.statistic, of("mannwhitney_exact", "U"), 1e-12);
    assert_close(found.p, of("mannwhitney_exact", "p"), 1e-12);
    let d = differences(&A, &B).unwrap();
    let found = signed_rank(&d).unwrap();
    assert_close(found.statistic, of("wilcoxon_exact", "W"), 0.0);
    assert_close(found.p, of("wilcoxon_exact", "p"), 1e-12);
    let centre = hodges_lehmann(&d).unwrap().exp();
    let expected = number(&vectors, &["hodges_lehmann_log_ratio_paired"]);
    assert_close(centre, expected, 1e-12);
    assert_eq!(agreeing(&d), 5);
}

#[test]
fn smallest_ps_of_vectors() {
    let vectors = vectors();
    for n in 3..=10 {
        let path = ["min_two_sided_p", "mann_whitney n v n", &n.to_string()];
        let expected = number(&vectors, &path);
        assert_close(least_p(n, n), expected, 1e-9);
        let (low, high): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (i as f64, i as f64 + 99.0)).unzip();
        assert_close(mann_whitney(&low, &high).unwrap().p, expected, 1e-9);
    }
    for n in 3..=12 {
        let path = [
            "min_two_sided_p",
            "sign_flip / wilcoxon n pairs",
            &n.to_string(),
        ];
        let expected = number(&vectors, &path);
        assert_close(pairs::least_p(n), expected, 1e-12);
        let d: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        assert_close(signed_rank(&d).unwrap().p, expected, 1e-12);
    }
}

/// Exact p-values were counted by another program; the approximation comes close to them.
#[test]
fn many_ranks_are_approximated() {
    let a: Vec<f64> = (0..25)
        .map(|i| f64::from(i * i % 41) + 0.01 * f64::from(i))
        .collect();
    let b: Vec<f64> = (0..22)
        .map(|i| f64::from(i * i % 37) + 4.005 + 0.011 * f64::from(i))
        .collect();
    let found = mann_whitney(&a, &b).unwrap();
    assert!(!found.exact);
    assert_close(found.statistic, 245.0, 1e-12);
    assert!((found.p - 0.532_884_254).abs() < 5e-3, "{found:?}");
    let d: Vec<f64> = (0..25)
        .map(|i| f64::from(i * i % 41) - 17.5 + 0.001 * f64::from(i))
        .collect();
    let found = signed_rank(&d).unwrap();
    assert!(!found.exact);
    assert!((found.p - 0.219_986_379).abs() < 5e-3, "{found:?}");
    assert_close(mann_whitney(&[1.0; 30], &[1.0; 30]).unwrap().p, 1.0, 0.0);
}

#[test]
fn nothing_has_no_ranks() {
    assert!(signed_rank(&[0.0, 0.0]).is_none());
    assert!(mann_whitney(&[], &A).is_none());
    assert!(hodges_lehmann(&[]).is_none());
}

#[test]
fn shares_have_logits_at_their_ends() {
    assert_close(logit(50, 100), 0.0, 0.0);
    assert_close(logit(0, 100), -logit(100, 100), 1e-12);
    assert!(logit(0, 100) < logit(1, 100));
}

/// Two figures a side on a clock of whole milliseconds: they differ by 4 % and have no scatter, so
/// that nothing is known of what they would be on a finer one.
#[test]
fn few_figures_without_scatter_are_not_known_to_be_alike() {
    let few = welch(&[49.0, 49.0], &[51.0, 51.0]).unwrap();
    assert!(
        few.p > 0.3 && !few.is_equivalent(EQUIVALENT_WITHIN),
        "{few:?}"
    );
    let same = welch(&[49.0, 49.0], &[49.0, 49.0]).unwrap();
    assert!(same.is_equivalent(EQUIVALENT_WITHIN), "{same:?}");
}
