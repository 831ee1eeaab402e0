//! Quantiles of a run and their intervals, or the reason why there is none.
//!
//! The point estimate is type 1 of Hyndman & Fan: a latency that was measured, never one
//! interpolated between two modes. The interval is Woodruff's (1952): a beta interval of the
//! proportion below the estimate, with the sample size deflated by the design effect of time
//! batches ([`super::effective`]), carried back through the empirical distribution. Where what is
//! slow outlasts a batch it is wider still.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::beta;
use super::effective::{BatchCount, effective, lasting};

/// From here on up the interval covers the truth in 86 to 90 % of runs instead of 95 %, unless
/// the sample is [`AMPLE`] times what is needed at all.
pub const OPTIMISTIC_FROM: f64 = 0.999;

/// How many times the needed sample makes an interval of the far tail trustworthy.
pub const AMPLE: f64 = 3.0;

/// A quantile with its 95 % interval *within this run*; what another run would give is a matter
/// of [`super::spread`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuantileEstimate {
    /// Which quantile, in `0..1`.
    pub p: f64,
    /// The estimate: the smallest sample that at least a share `p` does not exceed.
    pub value: u64,
    /// Lower end of the interval, a measured sample.
    pub low: u64,
    /// Upper end of the interval, a measured sample.
    pub high: u64,
    /// Samples, censored ones included.
    pub n: u64,
    /// Rank of the estimate, from 1.
    pub rank: u64,
    /// Independent samples this one is worth at the estimate.
    pub n_eff: f64,
    /// Design effect: samples per independent sample.
    pub deff: f64,
}

impl QuantileEstimate {
    /// Whether the interval is narrower than it says: a far tail from a sample that is less than
    /// [`AMPLE`] times the needed one.
    pub fn is_optimistic(&self) -> bool {
        self.p >= OPTIMISTIC_FROM && self.n_eff < AMPLE * needed(self.p) as f64
    }
}

/// Why a quantile has no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Undetermined {
    /// There was no sample.
    #[error("no samples")]
    Empty,
    /// The interval has no end on one side: too few independent samples lie beyond.
    #[error("needs {needs} effective samples, have {have}")]
    TooFew {
        /// Smallest effective sample that would do.
        needs: u64,
        /// What the sample is worth, rounded down.
        have: u64,
    },
    /// The estimate or its upper end is a request whose latency is only known to be longer than
    /// every measured one.
    #[error("reaches rank {rank} of {n}, among the {censored} requests that did not finish")]
    Censored {
        /// The rank that was wanted, from 1.
        rank: u64,
        /// All samples.
        n: u64,
        /// Samples without a latency.
        censored: u64,
    },
}

/// The rank (from 1) of the type 1 quantile `p` among `n` samples: the smallest whole number
/// that is at least `n p`, and at least 1. `n` must not be 0.
pub fn rank(n: u64, p: f64) -> u64 {
    let exact = n as f64 * p;
    // 0.07 * 100 is a rounding error above 7 and must not become 8.
    let below = exact * (1.0 - 4.0 * f64::EPSILON);
    (below.ceil() as u64).clamp(1, n)
}

/// The type 1 quantile `p` of an ascending slice; `None` if it is empty.
pub fn type_1<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    if sorted.is_empty() {
        return None;
    }
    Some(sorted[rank(sorted.len() as u64, p) as usize - 1])
}

/// Requests that must lie beyond a percentile for it to be a figure of a repeat and not of one
/// request: the relative error of a count of five is 45 %, and it is the scatter between repeats
/// that is judged.
const BEYOND_FEWEST: f64 = 5.0;

/// Whether one repeat of `n` requests has a quantile `p` that can stand for it among others.
/// Alone it would need an interval, see [`needed`].
pub fn stands_for_repeat(n: u64, p: f64) -> bool {
    n as f64 * (1.0 - p) >= BEYOND_FEWEST
}

/// The smallest effective sample whose two-sided 95 % interval of quantile `p` has both ends:
/// 6, 36, 72, 368, 3688 and 36887 for p50, p90, p95, p99, p99.9 and p99.99.
pub fn needed(p: f64) -> u64 {
    let inner = p.max(1.0 - p);
    (beta::TAIL.ln() / inner.ln()).ceil() as u64
}

/// The smallest effective sample that bounds quantile `p` from above with 95 % confidence, which
/// is all that a limit on a latency asks for: 5, 29, 59, 299, 2995 and 29956.
pub fn needed_one_sided(p: f64) -> u64 {
    ((2.0 * beta::TAIL).ln() / p.ln()).ceil() as u64
}

/// The quantiles `ps` of the samples `(batch, latency)`, each in `0..1`, with their intervals.
///
/// `censored` names the batch of every request that has no latency because it was given up:
/// such a request counts as slower than all measured ones. Batches are numbered `0..n_batches`
/// as [`super::batches::Batches`] does. Takes `n log n` steps.
///
/// # Panics
///
/// If a batch is not below `n_batches`.
pub fn quantiles(
    values: &[(u32, u64)],
    n_batches: u32,
    censored: &[u32],
    ps: &[f64],
) -> Vec<Result<QuantileEstimate, Undetermined>> {
    let mut sorted: Vec<u64> = values.iter().map(|&(_, value)| value).collect();
    sorted.sort_unstable();
    let mut totals = vec![BatchCount::default(); n_batches as usize];
    for &batch in values.iter().map(|(batch, _)| batch).chain(censored) {
        totals[batch as usize].total += 1;
    }
    let sample = Sample {
        values,
        sorted: &sorted,
        totals: &totals,
        censored: censored.len(),
    };
    ps.iter().map(|&p| sample.estimate(p)).collect()
}

/// A sample ready for one quantile after the other.
struct Sample<'a> {
    values: &'a [(u32, u64)],
    sorted: &'a [u64],
    totals: &'a [BatchCount],
    censored: usize,
}

impl Sample<'_> {
    fn estimate(&self, p: f64) -> Result<QuantileEstimate, Undetermined> {
        let n = (self.sorted.len() + self.censored) as u64;
        if n == 0 {
            return Err(Undetermined::Empty);
        }
        let rank = rank(n, p);
        let value = self.at_rank(rank)?;
        let below = self.below(value);
        let found = effective(&below).ok_or(Undetermined::Empty)?;
        let needs = needed(p);
        if found.n_eff < needs as f64 {
            return Err(Undetermined::TooFew {
                needs,
                have: found.n_eff as u64,
            });
        }
        let (low, high) = beta::interval(p, lasting(&below, &found));
        let low_rank = ((n as f64 * low).floor() as u64).max(1);
        let high_rank = ((n as f64 * high).ceil() as u64).min(n);
        Ok(QuantileEstimate {
            p,
            value,
            low: self.at_rank(low_rank)?,
            high: self.at_rank(high_rank)?,
            n,
            rank,
            n_eff: found.n_eff,
            deff: found.deff,
        })
    }

    /// The value of a rank (from 1) within the sample.
    fn at_rank(&self, rank: u64) -> Result<u64, Undetermined> {
        self.sorted
            .get(rank as usize - 1)
            .copied()
            .ok_or(Undetermined::Censored {
                rank,
                n: (self.sorted.len() + self.censored) as u64,
                censored: self.censored as u64,
            })
    }

    /// How many samples of each batch are at most `value`.
    fn below(&self, value: u64) -> Vec<BatchCount> {
        let mut counts = self.totals.to_vec();
        for &(batch, sample) in self.values {
            counts[batch as usize].hits += u64::from(sample <= value);
        }
        counts
    }
}
