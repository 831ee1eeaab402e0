//! Whether a reset emptied a cache: first touches of keys against what is known to be warm.
//!
//! The same requests are made twice, after the reset and again. If the reset emptied a cache, the
//! first request for each key is slower than the same one later; whether it is, is a coin's throw
//! for each key if the reset did nothing (sign test, Arbuthnot 1710; interval of the share by
//! Clopper & Pearson 1934). What makes the whole pass slower (a just-in-time compiler, caches of
//! the CPU) makes later requests for the same keys slower too, and is divided out.

use super::beta::clopper_pearson;
use super::quantile::type_1;

/// Fewer keys than this prove nothing: the interval of 5 of 5 still holds one half.
pub const FEWEST_PAIRS: usize = 6;
/// After a reset that worked, at least nine of ten first touches are slower: a cache that answers
/// saves more than what requests scatter by.
const COLD_SHARE: f64 = 0.9;
/// The first touches of a cold pass take at least this many times as long in the median. Less is
/// what the order of two passes alone does.
const RATIO_LEAST: f64 = 1.2;

/// What a request took after the reset, and the same one again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// After the reset, in nanoseconds.
    pub cold_ns: u64,
    /// Again, in nanoseconds.
    pub warm_ns: u64,
}

/// Whether a pass was cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coldness {
    /// First touches found nothing cached.
    Cold,
    /// First touches were no slower than later ones: the reset did nothing, or nothing is cached.
    NotCold,
    /// Too few keys, or too much scatter, to decide.
    CannotTell,
}

/// First touches of a pass that is to be cold, against the same requests again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstTouches {
    /// Keys that were touched in both; those that took equally long are left out.
    pub pairs: usize,
    /// Of these, those whose first touch after the reset was slower.
    pub slower: usize,
    /// 95 % interval of the share of slower ones.
    pub share: (f64, f64),
    /// Median of cold / warm over the first touches; `None` without pairs.
    pub ratio: Option<f64>,
    /// The same over later touches of the same keys: what makes the whole pass slower.
    pub later_ratio: Option<f64>,
    /// What that means.
    pub coldness: Coldness,
}

/// Compares first touches (`firsts`, one a key) with the same requests again, in the light of
/// `later`, requests that found their key touched before in both passes.
pub fn first_touches(firsts: &[Pair], later: &[Pair]) -> FirstTouches {
    let differing = firsts.iter().filter(|pair| pair.cold_ns != pair.warm_ns);
    let pairs = differing.clone().count();
    let slower = differing.filter(|pair| pair.cold_ns > pair.warm_ns).count();
    let share = clopper_pearson(slower as u64, pairs.max(1) as u64);
    let (ratio, later_ratio) = (median_ratio(firsts), median_ratio(later));
    // Few later touches would add more scatter than they take away.
    let common = later_ratio.filter(|_| later.len() >= FEWEST_PAIRS);
    let is_longer =
        ratio.is_some_and(|ratio| ratio >= RATIO_LEAST * common.unwrap_or(1.0).max(1.0));
    let coldness = if pairs < FEWEST_PAIRS && firsts.len() < FEWEST_PAIRS {
        Coldness::CannotTell
    } else if share.0 > 0.5 && is_longer {
        Coldness::Cold
    } else if share.1 < COLD_SHARE || !is_longer {
        Coldness::NotCold
    } else {
        Coldness::CannotTell
    };
    FirstTouches {
        pairs,
        slower,
        share,
        ratio,
        later_ratio,
        coldness,
    }
}

/// The median of cold / warm.
fn median_ratio(pairs: &[Pair]) -> Option<f64> {
    // Sorted as integers, in millionths.
    let ratio = |pair: &Pair| (pair.cold_ns as f64 / pair.warm_ns.max(1) as f64 * 1e6) as u64;
    let mut ratios: Vec<u64> = pairs.iter().map(ratio).collect();
    ratios.sort_unstable();
    Some(type_1(&ratios, 0.5)? as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::SeedableRng;

    use super::*;
    use crate::plan::unit;

    /// Latencies around `cold` and `warm` that scatter by a factor of two.
    fn pairs(n: usize, cold: f64, warm: f64, seed: u64) -> Vec<Pair> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut around = |middle: f64| (middle * (0.7 + 0.7 * unit(&mut random))) as u64;
        (0..n)
            .map(|_| Pair {
                cold_ns: around(cold),
                warm_ns: around(warm),
            })
            .collect()
    }

    fn coldness(firsts: &[Pair], later: &[Pair]) -> Coldness {
        first_touches(firsts, later).coldness
    }

    #[test]
    fn a_reset_that_works_is_proved() {
        let found = first_touches(&pairs(30, 20e6, 1e6, 1), &pairs(200, 1e6, 1e6, 2));
        assert_eq!((found.pairs, found.slower), (30, 30));
        assert_eq!(found.coldness, Coldness::Cold);
        assert!(found.ratio.unwrap() > 10.0 && found.share.0 > 0.8);
        assert_eq!(coldness(&pairs(6, 20e6, 1e6, 3), &[]), Coldness::Cold);
    }

    #[test]
    fn a_warm_pass_called_cold_is_caught() {
        // Some of them cannot be decided; none may be called cold.
        let mut caught = 0;
        for seed in 0..200 {
            let found = coldness(
                &pairs(40, 1e6, 1e6, seed),
                &pairs(200, 1e6, 1e6, seed + 500),
            );
            assert_ne!(found, Coldness::Cold, "{seed}");
            caught += u32::from(found == Coldness::NotCold);
        }
        assert!(caught >= 190, "{caught}");
    }

    #[test]
    fn what_makes_the_whole_pass_slower_is_no_cold_cache() {
        let firsts = pairs(50, 3e6, 1e6, 1);
        assert_eq!(
            coldness(&firsts, &pairs(300, 3e6, 1e6, 2)),
            Coldness::NotCold
        );
        assert_eq!(coldness(&firsts, &pairs(300, 1e6, 1e6, 3)), Coldness::Cold);
    }

    #[test]
    fn few_keys_prove_nothing() {
        assert_eq!(coldness(&pairs(5, 20e6, 1e6, 1), &[]), Coldness::CannotTell);
        assert_eq!(
            coldness(&[], &pairs(300, 1e6, 1e6, 2)),
            Coldness::CannotTell
        );
        let all_alike = [Pair {
            cold_ns: 7,
            warm_ns: 7,
        }; 20];
        assert_eq!(coldness(&all_alike, &[]), Coldness::NotCold);
        assert_eq!(first_touches(&[], &[]).ratio, None);
    }
}
