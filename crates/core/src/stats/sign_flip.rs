//! Sign-flip test of pairs: had the sides been exchanged by chance, how often would the mean
//! difference be as large?

use serde::{Deserialize, Serialize};

use super::random::Draw;

/// Up to this many pairs all the ways to exchange their sides are looked at: 65 536.
pub const ENUMERATED_UP_TO: usize = 16;

/// Ways drawn where there are more; a p near 0.01 is then known to 0.0003.
pub const DRAWN: u64 = 100_000;

/// Sums closer than this, relative to the sum of all sizes, differ by rounding.
const ROUNDING: f64 = 1e-12;

/// The outcome.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignFlip {
    /// Mean difference.
    pub mean: f64,
    /// Share of the ways with a mean at least as far from 0.
    pub p: f64,
    /// Ways looked at, the observed one included.
    pub ways: u64,
    /// Whether these were all there are.
    pub exact: bool,
}

/// Tests whether differences of pairs have a mean other than 0 (Fisher 1935). Exact when the
/// order within each pair was drawn at random, whatever the distribution, but n pairs give no p
/// below `2^(1-n)`. `None` without a pair.
///
/// Beyond [`ENUMERATED_UP_TO`] pairs by [`DRAWN`] seeded draws, counting the observed way
/// (Phipson & Smyth 2010), so that no p is 0.
pub fn sign_flip(differences: &[f64], seed: u64) -> Option<SignFlip> {
    if differences.is_empty() {
        return None;
    }
    let n = differences.len();
    let observed: f64 = differences.iter().sum();
    let sizes: f64 = differences.iter().map(|d| d.abs()).sum();
    let least = observed.abs() - ROUNDING * sizes;
    let is_as_large = |flipped: &dyn Fn(usize) -> bool| {
        let signed = |(i, d): (usize, &f64)| if flipped(i) { -d } else { *d };
        let sum: f64 = differences.iter().enumerate().map(signed).sum();
        u64::from(sum.abs() >= least)
    };
    let exact = n <= ENUMERATED_UP_TO;
    let (hits, ways) = if exact {
        let ways = 1_u64 << n;
        let hits = (0..ways).map(|mask| is_as_large(&|i| mask >> i & 1 == 1));
        (hits.sum::<u64>(), ways)
    } else {
        let mut draw = Draw::new(seed);
        let mut hits = 1;
        for _ in 0..DRAWN {
            let flips: Vec<bool> = (0..n).map(|_| draw.index(2) == 1).collect();
            hits += is_as_large(&|i| flips[i]);
        }
        (hits, DRAWN + 1)
    };
    Some(SignFlip {
        mean: observed / n as f64,
        p: hits as f64 / ways as f64,
        ways,
        exact,
    })
}
