use proptest::prelude::*;
use slowpath_core::stats::batches::{BATCHES, Batches, Window};
use slowpath_core::stats::quantile::{
    Undetermined, fewest_for_repeat, needed, quantiles, rank, stands_for_repeat, type_1,
};

use super::grids::{Noise, standard_normal};
use super::laws::laws;
use super::vectors::{number, vectors};

/// Values dealt to `n_batches` batches round-robin, so that every batch holds the same mixture.
fn dealt(values: impl IntoIterator<Item = u64>, n_batches: u32) -> Vec<(u32, u64)> {
    (0..n_batches).cycle().zip(values).collect()
}

#[test]
fn type_1_of_vectors() {
    let vectors = vectors();
    let x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100];
    for (name, p) in [("0.5", 0.5), ("0.9", 0.9), ("0.95", 0.95), ("0.99", 0.99)] {
        let expected = number(&vectors, &["q_inverted_cdf(type1)", name]);
        assert_eq!(type_1(&x, p), Some(expected as i32), "p {p}");
    }
    assert_eq!(type_1::<u64>(&[], 0.5), None);
}

#[test]
fn rank_does_not_trip_over_rounding() {
    assert_eq!(rank(100, 0.07), 7);
    assert_eq!(rank(1000, 0.999), 999);
    assert_eq!(rank(1001, 0.999), 1000);
    assert_eq!(rank(5, 0.0), 1);
    assert_eq!(rank(5, 1.0), 5);
}

#[test]
fn needed_samples_of_vectors() {
    let vectors = vectors();
    for (name, p) in [
        ("0.5", 0.5),
        ("0.9", 0.9),
        ("0.95", 0.95),
        ("0.99", 0.99),
        ("0.999", 0.999),
        ("0.9999", 0.9999),
    ] {
        let expected = number(&vectors, &["min_n_two_sided95_finite_upper", name]);
        assert_eq!(needed(p), expected as u64, "p {p}");
    }
}

#[test]
fn estimate_of_even_values() {
    let values = dealt(1..=30_000, 30);
    let found = quantiles(&values, 30, &[], &[0.5, 0.99]);
    let median = found[0].unwrap();
    assert_eq!(
        (median.value, median.rank, median.n),
        (15_000, 15_000, 30_000)
    );
    assert!(median.deff < 1.0 + 1e-9);
    let p99 = found[1].unwrap();
    assert_eq!(p99.value, 29_700);
    // The binomial limits of 1.96 standard errors, widened by 2.045 / 1.96 for thirty batches.
    let half_width = 2.045 * (0.01f64 * 0.99 * 30_000.0).sqrt();
    assert!(
        (p99.value - p99.low).abs_diff(half_width as u64) <= 3,
        "{p99:?}"
    );
    assert!(
        (p99.high - p99.value).abs_diff(half_width as u64) <= 3,
        "{p99:?}"
    );
}

#[test]
fn bursts_widen_the_interval() {
    let even = dealt(1..=30_000, 30);
    // The same values, but each batch holds consecutive ones.
    let bursts: Vec<(u32, u64)> = (0..30_000)
        .map(|i| (i as u32 / 1000, u64::from(i as u32) + 1))
        .collect();
    let even = quantiles(&even, 30, &[], &[0.5])[0].unwrap();
    let bursts = quantiles(&bursts, 30, &[], &[0.5])[0].unwrap();
    assert_eq!(even.value, bursts.value);
    assert!(bursts.deff > 100.0, "{bursts:?}");
    assert!(bursts.high - bursts.low > 10 * (even.high - even.low));
}

#[test]
fn refuses_by_effective_size_and_says_so() {
    let values = dealt(1..=1000, 30);
    let found = quantiles(&values, 30, &[], &[0.5, 0.9, 0.99, 0.999]);
    assert!(found[..3].iter().all(Result::is_ok));
    let refusal = found[3].unwrap_err();
    let Undetermined::TooFew { needs: 3688, have } = refusal else {
        panic!("{refusal:?}")
    };
    assert!((900..1000).contains(&have), "{have}");
    assert_eq!(
        refusal.to_string(),
        format!("needs 3688 effective samples, have {have}")
    );
}

#[test]
fn refuses_even_the_median_of_a_handful() {
    let found = quantiles(&dealt(1..=5, 30), 30, &[], &[0.5])[0];
    assert_eq!(found, Err(Undetermined::TooFew { needs: 6, have: 5 }));
    let one_batch = quantiles(&dealt(1..=1000, 1), 1, &[], &[0.5])[0];
    assert_eq!(one_batch, Err(Undetermined::TooFew { needs: 6, have: 0 }));
    assert_eq!(quantiles(&[], 30, &[], &[0.5])[0], Err(Undetermined::Empty));
    assert_eq!(Undetermined::Empty.to_string(), "no samples");
}

#[test]
fn censored_samples_take_the_highest_ranks() {
    let values = dealt(1..=980, 20);
    let censored: Vec<u32> = (0..20).collect();
    let found = quantiles(&values, 20, &censored, &[0.5, 0.9, 0.99]);
    let median = found[0].unwrap();
    assert_eq!((median.value, median.n), (500, 1000));
    assert_eq!(found[1].unwrap().value, 900);
    let refusal = found[2].unwrap_err();
    assert_eq!(
        refusal,
        Undetermined::Censored {
            rank: 990,
            n: 1000,
            censored: 20
        }
    );
    assert_eq!(
        refusal.to_string(),
        "reaches rank 990 of 1000, among the 20 requests that did not finish"
    );
}

#[test]
fn an_upper_end_among_censored_samples_is_refused() {
    let values = dealt(1..=980, 20);
    let censored: Vec<u32> = (0..20).collect();
    let found = quantiles(&values, 20, &censored, &[0.975])[0];
    assert!(
        matches!(found, Err(Undetermined::Censored { rank: 981.., .. })),
        "{found:?}"
    );
}

#[test]
fn nothing_but_censored_samples() {
    let found = quantiles(&[], 10, &[0, 1, 2, 3], &[0.5])[0];
    assert_eq!(
        found,
        Err(Undetermined::Censored {
            rank: 2,
            n: 4,
            censored: 4
        })
    );
}

#[test]
fn far_tails_of_small_samples_are_optimistic() {
    let small = quantiles(&dealt(1..=6000, 30), 30, &[], &[0.99, 0.999]);
    assert!(!small[0].unwrap().is_optimistic());
    assert!(small[1].unwrap().is_optimistic());
    let large = quantiles(&dealt(1..=20_000, 30), 30, &[], &[0.999]);
    assert!(!large[0].unwrap().is_optimistic());
}

/// Share of simulated runs whose interval holds the true quantile. The runs are log-normal with
/// autocorrelation `rho` from one request to the next.
fn coverage(rho: f64, n: usize, p: f64) -> f64 {
    const RUNS: u32 = 150;
    let truth = (1e6 * standard_normal(p).exp()) as u64;
    let mut noise = Noise::new(17);
    let mut covered = 0;
    for _ in 0..RUNS {
        let mut state = noise.normal();
        let values: Vec<(u32, u64)> = (0..n)
            .map(|i| {
                state = rho * state + (1.0 - rho * rho).sqrt() * noise.normal();
                ((i * 30 / n) as u32, (1e6 * state.exp()) as u64)
            })
            .collect();
        let found = quantiles(&values, 30, &[], &[p])[0].unwrap();
        covered += u32::from(found.low <= truth && truth <= found.high);
    }
    f64::from(covered) / f64::from(RUNS)
}

/// The seed is fixed; 0.90 is the promise, and the standard error of each figure 0.02.
#[test]
fn intervals_cover_the_truth() {
    for (rho, n) in [(0.0, 3000), (0.9, 6000)] {
        for p in [0.5, 0.9, 0.99] {
            let coverage = coverage(rho, n, p);
            assert!(coverage >= 0.90, "rho {rho}, p {p}: {coverage}");
        }
    }
}

#[test]
fn batches_are_thirty_or_one_a_second_but_ten() {
    let count = |span_ns: u64| {
        Batches::new(&[Window {
            begin_ns: 5,
            end_ns: 5 + span_ns,
        }])
        .count()
    };
    assert_eq!(count(60_000_000_000), BATCHES);
    assert_eq!(count(30_000_000_000), 30);
    assert_eq!(count(29_999_999_999), 29);
    assert_eq!(count(20_000_000_000), 20);
    assert_eq!(count(3_000_000_000), 10);
    assert_eq!(count(0), 10);
}

#[test]
fn batches_number_through_the_repeats() {
    let window = |begin_ns| Window {
        begin_ns,
        end_ns: begin_ns + 60_000_000_000,
    };
    let batches = Batches::new(&[window(1000), window(5000)]);
    assert_eq!(batches.count(), 60);
    assert_eq!(batches.of(0, 0), 0);
    assert_eq!(batches.of(0, 1000), 0);
    assert_eq!(batches.of(0, 2_000_000_999), 0);
    assert_eq!(batches.of(0, 2_000_001_000), 1);
    assert_eq!(batches.of(0, 60_000_000_999), 29);
    assert_eq!(batches.of(0, u64::MAX), 29);
    assert_eq!(batches.of(1, 5000), 30);
    assert_eq!(batches.of(1, u64::MAX), 59);
}

proptest! {
    #![proptest_config(laws(256))]

    #[test]
    fn quantiles_are_samples_and_ordered(
        values in prop::collection::vec((0u32..12, 0u64..10_000), 1..800),
        censored in prop::collection::vec(0u32..12, 0..20),
    ) {
        let ps = [0.1, 0.5, 0.9, 0.95, 0.99];
        let mut highest = 0;
        for (found, p) in quantiles(&values, 12, &censored, &ps).into_iter().zip(ps) {
            let Ok(found) = found else { continue };
            prop_assert!(found.value >= highest);
            highest = found.value;
            prop_assert!(found.low <= found.value && found.value <= found.high);
            prop_assert!(values.iter().any(|&(_, value)| value == found.value));
            let below = values.iter().filter(|&&(_, value)| value <= found.value).count();
            prop_assert!(below as f64 >= p * found.n as f64 - 1e-6);
            prop_assert!(found.n_eff <= found.n as f64 && found.deff >= 1.0);
        }
    }

    #[test]
    fn type_1_is_monotone(
        mut values in prop::collection::vec(any::<u64>(), 1..200),
        p in 0.0..1.0,
        q in 0.0..1.0,
    ) {
        values.sort_unstable();
        let (p, q) = if p < q { (p, q) } else { (q, p) };
        prop_assert!(type_1(&values, p) <= type_1(&values, q));
    }
}

/// Slow requests that a coarse clock made equal come in bursts as much as others do.
#[test]
fn equal_values_do_not_hide_a_burst() {
    let burst = |at: fn(u64) -> u64| {
        let value = |i: u64| match i {
            6000..6400 => at(i),
            _ => 1_000_000 + i % 977,
        };
        let values: Vec<(u32, u64)> = (0..20_000)
            .map(|i| ((i * 30 / 20_000) as u32, value(i)))
            .collect();
        quantiles(&values, 30, &[], &[0.99])[0]
    };
    for found in [burst(|i| 1_000_000_000 + i), burst(|_| 1_000_000_000)] {
        assert!(
            matches!(found, Err(Undetermined::TooFew { needs: 368, .. })),
            "{found:?}"
        );
    }
}

/// A burst beyond the estimate says that the upper end is not known as well as it seems.
#[test]
fn bursts_beyond_the_estimate_widen_it() {
    let with = |burst: bool| {
        let value = |i: u64| match i {
            6000..6120 if burst => 1_000_000_000 + i,
            _ => 1_000_000 + i * 7919 % 20_000,
        };
        let values: Vec<(u32, u64)> = (0..20_000)
            .map(|i| ((i * 30 / 20_000) as u32, value(i)))
            .collect();
        quantiles(&values, 30, &[], &[0.98])[0].unwrap()
    };
    let (even, burst) = (with(false), with(true));
    assert!(burst.n_eff < even.n_eff / 4.0, "{even:?} {burst:?}");
    assert!(burst.high > 1_000_000_000, "{burst:?}");
}

/// The effective sample that is reported is the one that the interval was made of.
#[test]
fn the_effective_sample_makes_the_interval() {
    // Slow requests that outlast a batch.
    let value = |i: u64| {
        let slow = i / 1000 % 6 < 2 && i.is_multiple_of(20);
        if slow { 50_000_000 + i } else { 1_000_000 + i }
    };
    let values: Vec<(u32, u64)> = (0..30_000).map(|i| ((i / 1000) as u32, value(i))).collect();
    let found = quantiles(&values, 30, &[], &[0.985])[0].unwrap();
    let (low, high) = slowpath_core::stats::beta::interval(0.985, found.n_eff);
    let mut sorted: Vec<u64> = values.iter().map(|&(_, value)| value).collect();
    sorted.sort_unstable();
    assert_eq!(found.low, sorted[(30_000.0 * low).floor() as usize - 1]);
    assert_eq!(found.high, sorted[(30_000.0 * high).ceil() as usize - 1]);
}

#[test]
fn fewest_for_a_repeat_are_the_first_that_stand_for_it() {
    for (p, fewest) in [(0.5, 10), (0.95, 100), (0.99, 500), (0.999, 5000)] {
        assert_eq!(fewest_for_repeat(p), fewest, "{p}");
        assert!(stands_for_repeat(fewest, p) && !stands_for_repeat(fewest - 1, p));
    }
}
