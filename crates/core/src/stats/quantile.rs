//! Quantiles of a run and their intervals, or the reason why there is none.
//!
//! The point estimate is type 1 of Hyndman & Fan: a latency that was measured, never one
//! interpolated between two modes. The interval is Woodruff's (1952): a beta interval of the
//! proportion below the estimate, with the sample size deflated by the design effect of time
//! batches ([`super::effective`]), carried back through the empirical distribution. Where what is
//! slow outlasts a batch, where it comes in few bursts, or where those lie beyond the estimate, it
//! is wider still.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::beta;
use super::effective::{BatchCount, Effective, PAIRED_FROM, effective, lasting};
use super::selection::{Order, Selection};

use steps::Steps;

mod steps;

/// From here on up so few requests lie beyond that whether they come in bursts is not seen, unless
/// the sample is [`AMPLE`] times what is needed at all: the interval holds the truth in 95 % of
/// runs only if they do not.
pub const OPTIMISTIC_FROM: f64 = 0.999;

/// How many times the needed sample makes an interval of the far tail trustworthy.
pub const AMPLE: f64 = 3.0;

/// From here on up the tail beyond the estimate is examined as well: the upper end of the interval
/// lies there, and in a run that met few stalls it is all that shows them.
const TAIL_FROM: f64 = 0.9;

/// The parts of that tail that are examined. With the scatter at the estimate alone, intervals
/// of p95 held the truth in 83 to 86 % of short runs with stalls, and with these in 90 to 93 %.
const TAIL_PARTS: [f64; 2] = [0.5, 0.25];

/// Fewer requests than this scatter over batches as chance deals them.
const TAIL_FEWEST: u64 = 4;

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
    /// Independent samples that this one is taken to be worth, for the interval and for whether
    /// there is one.
    pub n_eff: f64,
    /// Design effect: samples per independent sample, at least 1. At a value that many samples
    /// share, or with bursts beyond it, the largest that is seen.
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

/// Whether one repeat of `n` requests has a quantile `p` that can represent it among others.
/// Alone it would need an interval, see [`needed`].
pub fn stands_for_repeat(n: u64, p: f64) -> bool {
    n as f64 * (1.0 - p) >= BEYOND_FEWEST
}

/// The fewest requests of which one repeat has a quantile `p` that can represent it: 10, 100, 500
/// and 5000 for p50, p95, p99 and p99.9.
pub fn fewest_for_repeat(p: f64) -> u64 {
    let near = (BEYOND_FEWEST / (1.0 - p)).floor() as u64;
    // `1 - p` is not exact, and the rule above decides.
    near + u64::from(!stands_for_repeat(near, p))
}

/// The smallest effective sample whose two-sided 95 % interval of quantile `p` has both ends:
/// 6, 36, 72, 368, 3688 and 36887 for p50, p90, p95, p99, p99.9 and p99.99.
pub fn needed(p: f64) -> u64 {
    let inner = p.max(1.0 - p);
    (beta::TAIL.ln() / inner.ln()).ceil() as u64
}

/// The quantiles `ps` of the samples `(batch, latency)`, each in `0..1`, with their intervals.
///
/// `censored` names the batch of every request that has no latency because it was given up:
/// such a request counts as slower than all measured ones. Batches are numbered `0..n_batches`
/// as [`super::batches::Batches`] does.
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
    let mut latencies: Selection = values.iter().map(|&(_, latency)| latency).collect();
    quantiles_of(
        &mut latencies,
        values.iter().copied(),
        n_batches,
        censored,
        ps,
    )
}

/// [`quantiles`] of samples that are gone over once, and whose latencies are there already.
///
/// # Panics
///
/// As there.
pub fn quantiles_of(
    latencies: &mut impl Order,
    values: impl Iterator<Item = (u32, u64)>,
    n_batches: u32,
    censored: &[u32],
    ps: &[f64],
) -> Vec<Result<QuantileEstimate, Undetermined>> {
    let mut sample = Sample {
        latencies,
        censored: censored.len(),
    };
    let mut places = Vec::new();
    for &p in ps {
        places.extend(sample.at(p).map(|(_, value)| value));
        places.extend(sample.tail(p));
    }
    let steps = Steps::new(values, n_batches, censored, places);
    ps.iter().map(|&p| sample.estimate(p, &steps)).collect()
}

/// A sample ready for one quantile after the other.
struct Sample<'a, O> {
    latencies: &'a mut O,
    censored: usize,
}

impl<O: Order> Sample<'_, O> {
    fn estimate(&mut self, p: f64, steps: &Steps) -> Result<QuantileEstimate, Undetermined> {
        let (rank, value) = self.at(p)?;
        let n = self.n();
        let shares = shares(value, steps).into_iter();
        let seen = shares.filter_map(|share| effective(&share));
        let found = seen.reduce(Effective::lesser).ok_or(Undetermined::Empty)?;
        let wary = self.wary(found, value, p, steps);
        let needs = needed(p);
        // The scatter of few batches is itself known too badly to be given the benefit of doubt.
        let counts = if steps.batches() < PAIRED_FROM {
            wary
        } else {
            found
        };
        if counts.n_eff < needs as f64 {
            return Err(Undetermined::TooFew {
                needs,
                have: counts.n_eff as u64,
            });
        }
        let n_eff = wary.n_eff.max(needs as f64);
        let (low, high) = beta::interval(p, n_eff);
        let low_rank = ((n as f64 * low).floor() as u64).max(1);
        let high_rank = ((n as f64 * high).ceil() as u64).min(n);
        Ok(QuantileEstimate {
            p,
            value,
            low: self.at_rank(low_rank)?,
            high: self.at_rank(high_rank)?,
            n,
            rank,
            n_eff,
            deff: wary.deff,
        })
    }

    /// All samples.
    fn n(&self) -> u64 {
        (self.latencies.count() + self.censored) as u64
    }

    /// The rank of a quantile and the value there.
    fn at(&mut self, p: f64) -> Result<(u64, u64), Undetermined> {
        if self.n() == 0 {
            return Err(Undetermined::Empty);
        }
        let rank = rank(self.n(), p);
        Ok((rank, self.at_rank(rank)?))
    }

    /// The value of a rank (from 1) within the sample.
    fn at_rank(&mut self, rank: u64) -> Result<u64, Undetermined> {
        let (n, censored) = (self.n(), self.censored as u64);
        self.latencies
            .nth(rank as usize - 1)
            .ok_or(Undetermined::Censored { rank, n, censored })
    }

    /// The values that part the tail beyond a quantile, at which the scatter is estimated besides
    /// the estimate.
    fn tail(&mut self, p: f64) -> Vec<u64> {
        let n = self.n();
        if n == 0 || p < TAIL_FROM {
            return Vec::new();
        }
        let ranks = TAIL_PARTS.map(|part| rank(n, 1.0 - part * (1.0 - p)));
        let held = ranks.iter().filter(|&rank| n - rank >= TAIL_FEWEST);
        held.filter_map(|&rank| self.at_rank(rank).ok()).collect()
    }

    /// What a sample is taken to be worth for the interval of a quantile: the least that
    /// neighbouring batches and the tail say too, with what bursts cost.
    fn wary(&mut self, found: Effective, estimate: u64, p: f64, steps: &Steps) -> Effective {
        let estimate = shares(estimate, steps);
        let lasting = estimate.iter().filter_map(|share| lasting(share));
        let tail = self.tail(p).into_iter();
        let tail = tail.flat_map(|value| shares(value, steps));
        let tail = tail.filter_map(|share| effective(&share));
        lasting.chain(tail).fold(found, Effective::lesser).wary()
    }
}

/// The shares that end at a value. Where samples are equal, what is at most the value and what
/// is below it are two, and the true quantile may lie at the end of either.
fn shares(value: u64, steps: &Steps) -> Vec<Vec<BatchCount>> {
    let below = (steps.equal(value) > 1).then(|| steps.below(value));
    [steps.at_most(value)].into_iter().chain(below).collect()
}
