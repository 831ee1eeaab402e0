use slowpath_core::stats::beta::{clopper_pearson, interval};
use slowpath_core::stats::effective::{BatchCount, effective};

use super::vectors::{assert_close, number, numbers, vectors};

/// Ten batches of a hundred, some of which hold hits.
fn published() -> Vec<BatchCount> {
    let hits = [10, 10, 0, 20, 20, 0, 0, 0, 5, 5];
    hits.map(|hits| BatchCount { hits, total: 100 }).to_vec()
}

/// `svyciprop(method = "beta")`.
#[test]
fn reproduces_r_survey() {
    let found = effective(&published()).unwrap();
    assert_close(found.share, 0.07, 1e-12);
    let (low, high) = interval(found.share, found.n_eff);
    assert_close(low, 0.024_727_780_57, 1e-9);
    assert_close(high, 0.150_512_007_4, 1e-9);
}

#[test]
fn reproduces_the_design_effect() {
    let vectors = vectors();
    let found = effective(&published()).unwrap();
    assert_close(
        found.variance,
        number(&vectors, &["deff_batch", "var"]),
        1e-12,
    );
    assert_close(found.deff, number(&vectors, &["deff_batch", "deff"]), 1e-12);
    assert_close(found.n_eff, 78.729_79, 1e-7);
    let undeflated = found.share * (1.0 - found.share) / found.variance;
    assert_close(
        undeflated,
        number(&vectors, &["deff_batch", "n_eff"]),
        1e-12,
    );
}

#[test]
fn scatter_of_independent_samples_costs_only_the_t_quantile() {
    let alike = vec![
        BatchCount {
            hits: 50,
            total: 100
        };
        30
    ];
    let found = effective(&alike).unwrap();
    assert_close(found.deff, 1.0, 1e-12);
    assert_close(
        found.n_eff,
        3000.0 * (1.960_755f64 / 2.045_230).powi(2),
        1e-5,
    );
}

#[test]
fn one_batch_says_nothing_about_its_scatter() {
    let found = effective(&[BatchCount {
        hits: 50,
        total: 100,
    }])
    .unwrap();
    assert_close(found.n_eff, 0.0, 0.0);
    assert!(effective(&[]).is_none());
    assert!(effective(&[BatchCount::default(); 3]).is_none());
}

#[test]
fn beta_intervals_of_vectors() {
    let vectors = vectors();
    for (name, p, n) in [
        ("p=0.5 neff=100", 0.5, 100.0),
        ("p=0.99 neff=500", 0.99, 500.0),
        ("p=0.99 neff=5000", 0.99, 5000.0),
        ("p=0.999 neff=5000", 0.999, 5000.0),
        ("p=0.99 neff=50", 0.99, 50.0),
    ] {
        let expected = numbers(&vectors, &["beta_interval", name]);
        let (low, high) = interval(p, n);
        assert_close(low, expected[0], 1e-9);
        assert_close(high, expected[1], 1e-9);
    }
}

#[test]
fn clopper_pearson_as_in_r() {
    let (low, high) = clopper_pearson(990, 1000);
    assert_close(low, 0.981_686_756_9, 1e-9);
    assert_close(high, 0.995_194_489_3, 1e-9);
}

#[test]
fn clopper_pearson_at_its_ends() {
    let (low, high) = clopper_pearson(0, 10);
    assert_close(low, 0.0, 0.0);
    assert_close(high, 1.0 - 0.025f64.powf(0.1), 1e-9);
    let (low, high) = clopper_pearson(10, 10);
    assert_close(low, 0.025f64.powf(0.1), 1e-9);
    assert_close(high, 1.0, 0.0);
    assert_eq!(clopper_pearson(0, 0), (0.0, 1.0));
}

/// The inversion must neither hang nor miss for the sample sizes and shares that occur.
#[test]
fn intervals_invert_at_every_size() {
    use statrs::function::beta::beta_reg;
    for n in [3.7, 40.0, 368.0, 1e4, 1e5, 1e6, 1e7] {
        for p in [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999] {
            let (low, high) = interval(p, n);
            assert!(low < p && p < high, "{p} of {n}: {low}..{high}");
            let (hits, misses) = (n * p, n * (1.0 - p));
            // A bound closer to 0 or 1 than rounding can resolve has no measurable tail.
            if low > 1e-9 {
                assert_close(beta_reg(hits, misses + 1.0, low), 0.025, 1e-4);
            }
            if 1.0 - high > 1e-9 {
                assert_close(1.0 - beta_reg(hits + 1.0, misses, high), 0.025, 1e-4);
            }
        }
    }
}
