//! What can be said about the shape of a latency distribution: how many modes, how sure.
//!
//! Two detectors of opposite temper look at the sample. [`super::modes`] asks for significance
//! and finds satellites of a few per mille; [`super::lowland`] looks at shape alone and separates
//! close modes in small samples. Where they agree the number of modes is a statement; where
//! they do not, it is a range, and another run decides. The dip test says how surprising the
//! sample would be if it had one mode.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::batches::Batches;
use super::dip::{self, Dip};
use super::effective::{BatchCount, lasting};
use super::modes::{Mode, TooFewSamples, logarithms, modes, recurring};
use super::random::Draw;
use super::{beta, lowland};

/// Values that the dip is taken from: a larger sample is drawn from, so that what remains is
/// still a random sample, which evenly spaced quantiles are not. It sees a mode of some 3 %.
const DIP_SAMPLES: usize = 10_000;

/// Seed of that draw, beside the sample itself.
const DIP_SEED: u64 = 0x6469_7021;

/// The modes of a sample and what speaks for their number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// The modes that are deeper than chance makes them, the lowest first.
    pub modes: Vec<Mode>,
    /// How many modes the second detector counts.
    pub second_count: usize,
    /// The dip test against one mode, on the values as they are.
    pub dip: Dip,
}

impl Shape {
    /// The modes of an ascending sample of at least [`super::modes::FEWEST_SAMPLES`].
    pub fn of(sorted: &[u64]) -> Result<Self, TooFewSamples> {
        Ok(Self {
            modes: modes(sorted)?,
            second_count: lowland::modes(sorted)?.len(),
            dip: dip_of(sorted)?,
        })
    }

    /// The same of a run whose times are known and whose `modes` have been found
    /// ([`super::modes::modes`]): close modes that do not recur throughout it are the wandering
    /// of one ([`super::modes::recurring`]), with either detector. `sorted` holds the latencies of
    /// `samples`, which are `(batch, latency)` in the order of time, with batches as
    /// [`Batches::of`] numbers them.
    pub fn over_time(
        modes: Vec<Mode>,
        sorted: &[u64],
        batches: &Batches,
        samples: impl ExactSizeIterator<Item = (u32, u64)> + Clone,
    ) -> Result<Self, TooFewSamples> {
        let second = lowland::modes(sorted)?;
        Ok(Self {
            modes: recurring(modes, batches.count(), samples.clone()),
            second_count: recurring(second, batches.count(), samples).len(),
            dip: dip_of(sorted)?,
        })
    }

    /// The smaller of the two counts.
    pub fn fewest(&self) -> usize {
        self.modes.len().min(self.second_count)
    }

    /// The larger of the two counts.
    pub fn most(&self) -> usize {
        self.modes.len().max(self.second_count)
    }
}

fn dip_of(sorted: &[u64]) -> Result<Dip, TooFewSamples> {
    let values: Vec<f64> = logarithms(&drawn(sorted))
        .into_iter()
        .map(f64::exp)
        .collect();
    dip::dip(&values).ok_or(TooFewSamples { have: 0 })
}

/// The sample, or as many of its values at distinct random ranks as the dip is taken from,
/// ascending. A value must not be drawn twice: two equal ones are a step that no continuous
/// distribution has, and the dip would be one of those.
fn drawn(sorted: &[u64]) -> Vec<u64> {
    if sorted.len() <= DIP_SAMPLES {
        return sorted.to_vec();
    }
    let of_run = sorted
        .iter()
        .fold(0, |sum: u64, &value| sum.wrapping_add(value));
    let mut draw = Draw::new(DIP_SEED ^ of_run);
    // Each set of ranks is as likely as any other (Bentley & Floyd 1987).
    let mut ranks = BTreeSet::new();
    for last in sorted.len() - DIP_SAMPLES..sorted.len() {
        if !ranks.insert(draw.index(last + 1)) {
            ranks.insert(last);
        }
    }
    ranks.into_iter().map(|rank| sorted[rank]).collect()
}

/// The weight of a mode with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weight {
    /// Share of the samples, in `0..=1`.
    pub share: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Independent samples that the weight rests on.
    pub n_eff: f64,
    /// Samples per independent one: above [`super::effective::BURSTY_DEFF`] the members of the
    /// mode come in bursts.
    pub deff: f64,
}

/// The weight of each mode, from the batch and the latency of each sample; `None` without
/// `samples`, which are `(batch, latency)` with batches as [`Batches::of`] numbers them.
///
/// The interval is that of a quantile's share: beta, with the design effect of the batches.
pub fn weights(
    modes: &[Mode],
    batches: &Batches,
    samples: impl Iterator<Item = (u32, u64)>,
) -> Option<Vec<Weight>> {
    let count = batches.count() as usize;
    let mut totals = vec![0; count];
    let mut hits = vec![vec![0; count]; modes.len()];
    for (batch, latency) in samples {
        totals[batch as usize] += 1;
        // Modes share out the range that they were found in: the first whose end lies beyond,
        // and the last holds what is slower than all that were examined.
        let mode = modes.partition_point(|mode| mode.high <= latency);
        if let Some(members) = hits.get_mut(mode.min(modes.len().saturating_sub(1))) {
            members[batch as usize] += 1;
        }
    }
    hits.iter()
        .map(|members| weight(members, &totals))
        .collect()
}

fn weight(members: &[u64], totals: &[u64]) -> Option<Weight> {
    // A batch without any sample says nothing about how shares scatter.
    let counts: Vec<BatchCount> = members
        .iter()
        .zip(totals)
        .filter(|&(_, &total)| total > 0)
        .map(|(&hits, &total)| BatchCount { hits, total })
        .collect();
    let found = lasting(&counts)?;
    let (low, high) = beta::interval(found.share, found.n_eff);
    Some(Weight {
        share: found.share,
        low,
        high,
        n_eff: found.n_eff,
        deff: found.deff,
    })
}
