//! Several observations inside one repeat, as one figure.

use super::Figure;

/// Fewest values whose extremes are a 95 % interval of their median: `1 - 2^(1-6)` is 96.9 %.
pub const FEWEST_FOR_INTERVAL: usize = 6;

/// The error that is left on both sides of an interval together.
const ALPHA: f64 = 0.05;

/// The median of some values with its 95 % interval from order statistics, which holds whatever
/// their distribution is if they are independent (David & Nagaraja, Order Statistics, 7.1); no
/// interval of fewer than [`FEWEST_FOR_INTERVAL`], and a value of 0 from none at all.
pub fn median_of(values: &[f64]) -> Figure {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 {
        return Figure::of(0.0);
    }
    let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
    let ends = lower_rank(n).map(|rank| (sorted[rank - 1], sorted[n - rank]));
    Figure {
        value: median,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
        n: Some(n as u64),
        aside: String::new(),
    }
}

/// The largest rank `r` (from 1) for which the median of the distribution lies between the `r`-th
/// lowest and the `r`-th highest of `n` values with 95 %: `P(B < r) <= 2.5 %` for a binomial `B`
/// of `n` fair coins.
fn lower_rank(n: usize) -> Option<usize> {
    if n < FEWEST_FOR_INTERVAL {
        return None;
    }
    // In logarithms: 2^-n is no number any more from some thousand values on.
    let mut log_term = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n / 2 {
        below += log_term.exp();
        if below > ALPHA / 2.0 {
            break;
        }
        rank += 1;
        log_term += ((n - rank + 1) as f64 / rank as f64).ln();
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks of the 95 % interval of a median, from the binomial distribution: R's
    /// `qbinom(0.025, n, 0.5)` for those n at which its probability is not met exactly.
    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        let ranks = [5, 6, 9, 10, 20, 50, 100, 5000].map(lower_rank);
        let known = [
            None,
            Some(1),
            Some(2),
            Some(2),
            Some(6),
            Some(18),
            Some(40),
            Some(2431),
        ];
        assert_eq!(ranks, known);
    }

    #[test]
    fn few_values_have_a_median_and_no_interval() {
        let figure = median_of(&[3.0, 1.0, 2.0, 4.0]);
        assert_eq!(
            (figure.value.to_bits(), figure.low),
            (2.5_f64.to_bits(), None)
        );
        let figure = median_of(&[6.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(
            (figure.low, figure.high, figure.n),
            (Some(1.0), Some(6.0), Some(6))
        );
    }
}
