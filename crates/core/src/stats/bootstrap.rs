//! The interval of a share that a cause claims of all excess, by resampling episodes.

use serde::{Deserialize, Serialize};

use super::beta::TAIL;
use super::quantile;
use super::random::Draw;

/// Resamples: the ends of a 95 % interval are then the 25th values from either side, whose own
/// scatter is about a tenth of the interval's width.
pub const RESAMPLES: usize = 1000;

/// A share of the excess with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareInterval {
    /// Claimed over all excess.
    pub share: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The share `sum(claims) / sum(excess)` over episodes, with a percentile interval from
/// resampling whole episodes (Efron & Tibshirani 1993, ch. 13), which keeps together what
/// happened together.
///
/// `claims[i]` is what of `excess[i]`, in the same unit, a cause explains of episode `i`. `None`
/// if there is no excess. A single episode gives an interval of no width: the caller asks for a
/// minimum number of episodes first.
///
/// # Panics
///
/// If the slices differ in length.
pub fn share_interval(claims: &[f64], excess: &[f64], seed: u64) -> Option<ShareInterval> {
    assert_eq!(
        claims.len(),
        excess.len(),
        "each episode has a claim and an excess"
    );
    let total: f64 = excess.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let mut draw = Draw::new(seed);
    let mut shares = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (mut claimed, mut all) = (0.0, 0.0);
        for _ in 0..claims.len() {
            let episode = draw.index(claims.len());
            claimed += claims[episode];
            all += excess[episode];
        }
        // A resample of episodes without excess says nothing about the share.
        if all > 0.0 {
            shares.push(claimed / all);
        }
    }
    shares.sort_unstable_by(f64::total_cmp);
    Some(ShareInterval {
        share: claims.iter().sum::<f64>() / total,
        low: quantile::type_1(&shares, TAIL)?,
        high: quantile::type_1(&shares, 1.0 - TAIL)?,
    })
}
