//! Intervals of quantiles of independent values, by their ranks alone.
//!
//! They assume nothing of the distribution, and say so when there are too few values. For figures
//! of runs: the requests of one run are not independent ([`super::quantile`]).

use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};
use thiserror::Error;

/// Ranks that hold a quantile between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranks {
    /// Rank of the lower end, from 1.
    pub low: u64,
    /// Rank of the upper end.
    pub high: u64,
    /// The confidence they really have, at least what was asked for.
    pub confidence: f64,
}

/// The median of values and an interval of the true one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MedianInterval {
    /// The median.
    pub median: f64,
    /// Lower end, one of the values.
    pub low: f64,
    /// Upper end, one of the values.
    pub high: f64,
    /// The confidence that the interval really has.
    pub confidence: f64,
}

/// No interval of so few values has the confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("need >= {needs} for this confidence, have {have}")]
pub struct TooFew {
    /// Smallest number of values that has one.
    pub needs: u64,
    /// How many there are.
    pub have: u64,
}

/// The ranks between which the quantile `p` of `n` independent values lies with at least
/// `confidence`, both strictly between 0 and 1: the binomial interval with equal tails.
pub fn ranks(n: u64, p: f64, confidence: f64) -> Result<Ranks, TooFew> {
    let tail = (1.0 - confidence) / 2.0;
    let needs = needed(p, confidence);
    if n < needs {
        return Err(TooFew { needs, have: n });
    }
    let below = Binomial::new(p, n).expect("the share is between 0 and 1");
    let low = quantile(&below, n, tail);
    let high = quantile(&below, n, 1.0 - tail) + 1;
    let confidence = below.cdf(high - 1) - below.cdf(low - 1);
    Ok(Ranks {
        low,
        high,
        confidence,
    })
}

/// The smallest number of values whose interval of the quantile `p` has both ends with this
/// confidence.
pub fn needed(p: f64, confidence: f64) -> u64 {
    let tail = (1.0 - confidence) / 2.0;
    (tail.ln() / p.max(1.0 - p).ln()).ceil() as u64
}

/// The median of figures of runs with its interval, in any order.
pub fn median(values: &[f64], confidence: f64) -> Result<MedianInterval, TooFew> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let found = ranks(sorted.len() as u64, 0.5, confidence)?;
    let at = |rank: u64| sorted[rank as usize - 1];
    Ok(MedianInterval {
        median: f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]),
        low: at(found.low),
        high: at(found.high),
        confidence: found.confidence,
    })
}

/// The smallest count whose cumulated probability is at least `share`.
fn quantile(below: &Binomial, n: u64, share: f64) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = u64::midpoint(low, high);
        if below.cdf(middle) < share {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
