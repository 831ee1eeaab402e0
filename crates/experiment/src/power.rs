//! How long blocks must be, and what a number of blocks can see.

use slowpath_core::stats::power::beyond;

use crate::judge::ALPHA;

/// No block is shorter: ten delayed-acknowledgement timers, ten quota periods, a hundred ticks of
/// a slow kernel. One second.
pub const SHORTEST_BLOCK_NS: u64 = 1_000_000_000;

/// Slow requests that a block without the intervention is expected to hold, so that their share
/// is known to a fifth of itself (Poisson: `1 / sqrt(30)`).
pub const SLOW_PER_BLOCK: f64 = 30.0;

/// Periods of a periodic cause that a block must span, so that none falls between blocks.
pub const PERIODS_PER_BLOCK: u64 = 5;

/// No block is longer: thirteen of them then take some thirteen minutes, and hosts drift.
pub const LONGEST_BLOCK_NS: u64 = 60_000_000_000;

/// Slow requests are so rare that no reasonable experiment could count them.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "blocks of {needs_s:.0} s would be needed to hold {SLOW_PER_BLOCK} slow requests each, and \
     the longest are {} s",
    LONGEST_BLOCK_NS / 1_000_000_000
)]
pub struct TooRare {
    /// The length that a block would need, in seconds; infinite without slow requests.
    pub needs_s: f64,
}

/// How long a block must be for `rate_per_s` requests of which `slow_share` are slow, when the
/// cause recurs every `period_ns` (0 if it has no period): at least a second, five periods, and
/// thirty slow requests.
pub fn block_ns(rate_per_s: f64, slow_share: f64, period_ns: u64) -> Result<u64, TooRare> {
    let slow_per_s = rate_per_s * slow_share;
    let for_slow_s = SLOW_PER_BLOCK / slow_per_s.max(0.0);
    let for_periods_s = (PERIODS_PER_BLOCK * period_ns) as f64 / 1e9;
    let needs_s = for_slow_s
        .max(for_periods_s)
        .max(SHORTEST_BLOCK_NS as f64 / 1e9);
    if needs_s * 1e9 > LONGEST_BLOCK_NS as f64 {
        return Err(TooRare { needs_s });
    }
    Ok((needs_s * 1e9).ceil() as u64)
}

/// The chance that an effect is seen at p < [`ALPHA`] when blocks of one arm scatter with a
/// standard deviation of `scatter` (same unit) and there are `without` and `with` blocks.
///
/// One-sided two-sample t-test by the noncentral t; the rank test used here is as powerful within
/// 5 % for normal scatter (Hodges & Lehmann 1956) and more powerful where single blocks are
/// disturbed. Zero if so few blocks cannot reach p < [`ALPHA`] at all.
pub(crate) fn power(effect: f64, scatter: f64, without: usize, with: usize) -> f64 {
    if smallest_p(without, with) >= ALPHA || effect <= 0.0 {
        return 0.0;
    }
    if scatter <= 0.0 {
        return 1.0;
    }
    let (a, b) = (without as f64, with as f64);
    let noncentrality = effect / (scatter * (1.0 / a + 1.0 / b).sqrt());
    beyond(noncentrality, a + b - 2.0, ALPHA)
}

/// The chance to see the effect that pairs are planned for: with a scatter that is a fifth larger than what is
/// known of it (twelve values know it to a fifth) it is 88 % then, more than the 80 % that a refutation needs.
/// (Planned with 90 %, wrong causes were met with 55 and 70 %.)
const PLANNED_POWER: f64 = 0.97;

/// The fewest pairs, from `fewest` on, that see an effect by a scatter with [`PLANNED_POWER`]; `most` if none
/// does.
pub fn pairs_to_see(effect: f64, scatter: f64, fewest: usize, most: usize) -> usize {
    let most = most.max(fewest);
    (fewest..=most)
        .find(|&n| power(effect, scatter, n, n) >= PLANNED_POWER)
        .unwrap_or(most)
}

/// The smallest one-sided p that so many blocks can give: one over the number of ways to choose.
fn smallest_p(without: usize, with: usize) -> f64 {
    (1..=with).fold(1.0, |p, k| p * k as f64 / (without + k) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_holds_thirty_slow_requests_five_periods_and_a_second() {
        assert_eq!(block_ns(1000.0, 1.0, 0), Ok(1_000_000_000));
        assert_eq!(block_ns(100.0, 0.02, 0), Ok(15_000_000_000));
        assert_eq!(block_ns(1000.0, 1.0, 500_000_000), Ok(2_500_000_000));
        let refused = block_ns(1.0, 0.01, 0).unwrap_err();
        assert!((refused.needs_s - 3000.0).abs() < 1e-6);
        assert!(
            refused
                .to_string()
                .starts_with("blocks of 3000 s would be needed to hold 30")
        );
        assert!(block_ns(10.0, 0.0, 0).is_err());
    }

    #[test]
    fn six_pairs_are_the_fewest_that_bear_a_disturbed_block() {
        assert!((smallest_p(6, 6) - 1.0 / 924.0).abs() < 1e-12);
        assert!((smallest_p(3, 3) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn power_grows_with_the_effect_and_falls_with_the_scatter() {
        assert!(power(1.0, 0.0, 6, 6) >= 1.0);
        assert!(power(0.0, 1.0, 6, 6) <= 0.0);
        assert!(
            power(100.0, 1.0, 3, 3) <= 0.0,
            "3 against 3 never reach 0.01"
        );
        // 1 - nct.cdf(t.ppf(0.99, 10), 10, 2.103 sqrt(3)) in scipy.
        assert!((power(2.103, 1.0, 6, 6) - 0.791_103).abs() < 1e-5);
        assert!(power(1.5, 1.0, 6, 6) < power(2.5, 1.0, 6, 6));
        assert!(power(2.103, 2.0, 6, 6) < 0.8);
    }

    #[test]
    fn more_scatter_takes_more_pairs_up_to_the_most() {
        let pairs = |scatter, most| pairs_to_see(0.15, scatter, 6, most);
        assert_eq!(pairs(0.05, 16), 6);
        let noisy = pairs(0.08, 16);
        assert!(noisy > 6 && noisy <= 16, "{noisy}");
        assert!(power(0.15, 0.08, noisy, noisy) >= PLANNED_POWER);
        assert_eq!(pairs(0.1, 16), 16, "as many as there may be");
        assert!(power(0.15, 0.1, 16, 16) >= 0.9);
        assert_eq!(pairs(3.0, 16), 16);
        assert_eq!(pairs(3.0, 2), 6);
        assert_eq!(pairs(0.0, 16), 6);
    }
}
