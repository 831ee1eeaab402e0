//! How many independent samples a batched sample is worth.
//!
//! Requests of one stall are slow together. The scatter of a share between time batches shows by
//! how much, and the sample size is divided by it (the design effect of survey statistics).

use serde::{Deserialize, Serialize};

use super::student::t_975;

/// A design effect above this is itself a finding: slow requests come in bursts.
pub const BURSTY_DEFF: f64 = 10.0;

/// A design effect above this is more than the scatter of independent samples shows by chance.
const BURSTS_FROM: f64 = 2.0;

/// By how much the design effect of bursts is taken to be larger than it was seen. A run that has
/// met few of them finds a low percentile and a small design effect at once, so that its interval
/// is narrowest where it is wrong: in simulated stalls those that missed the true p99 had half
/// the design effect of those that held it. At 1.5 intervals of p50 to p95 hold the truth in at
/// least 90 % of runs.
const BURSTS_COST: f64 = 1.5;

/// Fewest batches whose pairs are examined as well: the scatter of ten pairs is known to a
/// quarter.
pub(super) const PAIRED_FROM: usize = 20;

/// One batch: how many of its samples are in the share being estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchCount {
    /// Samples in the share.
    pub hits: u64,
    /// All samples.
    pub total: u64,
}

impl BatchCount {
    /// Several batches as one.
    fn sum(batches: &[Self]) -> Self {
        Self {
            hits: batches.iter().map(|batch| batch.hits).sum(),
            total: batches.iter().map(|batch| batch.total).sum(),
        }
    }
}

/// What a batched sample says about a share, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The share, in `0..=1`.
    pub share: f64,
    /// Variance of the share, from the scatter between batches.
    pub variance: f64,
    /// Independent samples that would determine the share as well, less what is lost because
    /// the scatter itself was estimated from few batches.
    pub n_eff: f64,
    /// Design effect: samples per independent sample, at least 1.
    pub deff: f64,
}

/// The effective sample size of a share (Korn & Graubard 1998); `None` without samples.
///
/// With `y_b` hits among `m_b` samples in each of `B` batches, and `p` the share over all,
/// `var = B/(B-1) * sum (y_b - p m_b)^2 / (sum m_b)^2`,
/// `n_0 = min(n, p(1-p)/var)` and `n_eff = n_0 (t_{n-1} / t_{B-1})^2`.
/// Fewer than two batches say nothing about their scatter: `n_eff` is then 0.
pub fn effective(batches: &[BatchCount]) -> Option<Effective> {
    let total: u64 = batches.iter().map(|batch| batch.total).sum();
    if total == 0 {
        return None;
    }
    let hits: u64 = batches.iter().map(|batch| batch.hits).sum();
    let n = total as f64;
    let share = hits as f64 / n;
    let count = batches.len() as f64;
    if batches.len() < 2 {
        return Some(Effective {
            share,
            variance: f64::INFINITY,
            n_eff: 0.0,
            deff: n,
        });
    }
    let squares: f64 = batches
        .iter()
        .map(|batch| (batch.hits as f64 - share * batch.total as f64).powi(2))
        .sum();
    let variance = count / (count - 1.0) * squares / (n * n);
    // A share of 0 or 1 scatters nowhere: nothing speaks against independence.
    let independent = if variance > 0.0 {
        (share * (1.0 - share) / variance).min(n)
    } else {
        n
    };
    let for_scatter = if total > 1 {
        t_975(n - 1.0) / t_975(count - 1.0)
    } else {
        0.0
    };
    let n_eff = (independent * for_scatter.powi(2)).min(n);
    Some(Effective {
        share,
        variance,
        n_eff,
        deff: n / independent,
    })
}

/// The same share when batches come in the order of time: as [`effective`] finds it, or with a
/// larger design effect where the scatter of neighbouring batches taken together is larger.
///
/// What outlasts a batch makes it resemble the next one, and batches by themselves then scatter
/// too little. From [`PAIRED_FROM`] batches on.
pub(super) fn lasting(batches: &[BatchCount]) -> Option<Effective> {
    let found = effective(batches)?;
    if batches.len() < PAIRED_FROM {
        return Some(found);
    }
    let pairs: Vec<BatchCount> = batches.chunks(2).map(BatchCount::sum).collect();
    match effective(&pairs) {
        Some(paired) if paired.deff > found.deff => Some(Effective {
            n_eff: found.n_eff * found.deff / paired.deff,
            deff: paired.deff,
            ..found
        }),
        _ => Some(found),
    }
}

impl Effective {
    /// The one that is worth less.
    pub(super) fn lesser(self, other: Self) -> Self {
        if other.n_eff < self.n_eff {
            other
        } else {
            self
        }
    }

    /// The same with what bursts cost that the run may not have met: nothing for samples that seem
    /// independent, [`BURSTS_COST`] where they clearly are not.
    pub(super) fn wary(self) -> Self {
        let cost = (self.deff / BURSTS_FROM).clamp(1.0, BURSTS_COST);
        Self {
            n_eff: self.n_eff / cost,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What batches are worth, by themselves and with those around them.
    fn worth(hits: &[u64]) -> (f64, f64) {
        let of = |&hits: &u64| BatchCount { hits, total: 100 };
        let batches: Vec<BatchCount> = hits.iter().map(of).collect();
        let found = effective(&batches).unwrap();
        (found.n_eff, lasting(&batches).unwrap().n_eff)
    }

    /// Stalls that outlast a batch: the same hits say less when neighbours share them.
    #[test]
    fn what_outlasts_a_batch_says_less() {
        let (alone, apart) = worth(&[10, 0, 0, 0, 10, 0, 0, 0].repeat(3));
        let (same, together) = worth(&[10, 10, 0, 0, 0, 0, 0, 0].repeat(3));
        assert!((alone - same).abs() < 1e-9);
        assert!(together < 0.75 * apart, "{together} {apart}");
    }

    #[test]
    fn few_batches_and_such_as_alternate_are_left_as_they_are() {
        let (found, lasting) = worth(&[10, 10, 0, 0, 0, 0, 0, 0]);
        assert!((found - lasting).abs() < f64::EPSILON);
        let (found, lasting) = worth(&[10, 0].repeat(12));
        assert!((found - lasting).abs() < f64::EPSILON);
    }
}
