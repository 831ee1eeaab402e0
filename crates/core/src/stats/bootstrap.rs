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
    let part = |drawn: &mut dyn Iterator<Item = usize>| {
        let (mut claimed, mut all) = (0.0, 0.0);
        for episode in drawn {
            claimed += claims[episode];
            all += excess[episode];
        }
        (all > 0.0).then(|| vec![claimed / all])
    };
    share_intervals(claims.len(), seed, part)?.pop()
}

/// Several shares of one excess with their percentile intervals. `of` gives them for some of the
/// `episodes`, given by position with repetition, or `None` if these say nothing of the shares; it
/// is asked once for all of them, and once for each resample. `None` if all say nothing.
pub fn share_intervals(
    episodes: usize,
    seed: u64,
    mut of: impl FnMut(&mut dyn Iterator<Item = usize>) -> Option<Vec<f64>>,
) -> Option<Vec<ShareInterval>> {
    let shares = of(&mut (0..episodes))?;
    let mut draw = Draw::new(seed);
    let mut resampled = vec![Vec::with_capacity(RESAMPLES); shares.len()];
    for _ in 0..RESAMPLES {
        let drawn: Option<Vec<f64>> = of(&mut (0..episodes).map(|_| draw.index(episodes)));
        for (all, share) in resampled.iter_mut().zip(drawn.into_iter().flatten()) {
            all.push(share);
        }
    }
    let interval = |(share, mut all): (f64, Vec<f64>)| {
        all.sort_unstable_by(f64::total_cmp);
        Some(ShareInterval {
            share,
            low: quantile::type_1(&all, TAIL)?,
            high: quantile::type_1(&all, 1.0 - TAIL)?,
        })
    };
    shares.into_iter().zip(resampled).map(interval).collect()
}
