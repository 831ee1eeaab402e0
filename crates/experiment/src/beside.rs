//! What else an intervention took away: a thread that is kept from going on keeps no lock, and no CPU and no
//! disk either.

use slowpath_core::stats::median::median;
use slowpath_core::stats::permutation::{Statistic, permutation};
use slowpath_core::stats::ranks::ranks;

use crate::design::{Arm, Design};
use crate::wording;

/// Of what requests gained, so much less waiting for CPUs and disks may be what they gained it by: below
/// that less than a third of it can be, and a confirmed cause has to take four fifths away.
const SHARE_LEAST: f64 = 0.3;
/// What scatters from block to block alike in both arms is none of the intervention's. This lowers a
/// verdict and makes none, so that one in twenty is rare enough.
const CHANCE_MOST: f64 = 0.05;

/// A block, in seconds a second: how much time was spent by all together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// Its position in [`Design::blocks`].
    pub block: usize,
    /// By requests, until they were answered.
    pub requests: f64,
    /// By the target's other threads, waiting for a CPU or a disk.
    pub threads: f64,
}

/// Why the cause may be a CPU or a disk that became free, and not what was to be taken away; `None` if
/// the target's other threads waited for those as long as before, or next to nothing beside what requests
/// gained.
pub fn gained_beside(design: &Design, blocks: &[Beside]) -> Option<String> {
    let of = |arm: Arm, value: fn(&Beside) -> f64| -> Vec<f64> {
        let drawn = blocks.iter().filter(|b| b.block != design.last());
        let own = drawn.filter(|b| design.blocks.get(b.block) == Some(&arm));
        own.map(value).collect()
    };
    let gain = |value: fn(&Beside) -> f64| {
        Some(median(&mut of(Arm::Without, value))? - median(&mut of(Arm::With, value))?)
    };
    let (requests, threads) = (gain(|b| b.requests)?, gain(|b| b.threads)?);
    let share = threads / requests;
    if requests <= 0.0 || share < SHARE_LEAST {
        return None;
    }
    let without = of(Arm::Without, |b| b.threads);
    let pooled: Vec<f64> = without
        .iter()
        .copied()
        .chain(of(Arm::With, |b| b.threads))
        .collect();
    let ranks = ranks(&pooled);
    let (a, b) = ranks.split_at(without.len());
    let chance = permutation(a, b, Statistic::Mean, design.seed)?.less;
    (chance < CHANCE_MOST).then(|| {
        format!(
            "the target's other threads waited less for CPUs and disks too, by {} of what requests gained \
             ({}), so that it may be those that became free",
            wording::percent(share.min(1.0)),
            wording::p(chance)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of which the arms differ by so much, with a scatter of a tenth of a second.
    fn simulated(design: &Design, requests: [f64; 2], threads: [f64; 2]) -> Vec<Beside> {
        let scatter = |block: usize| 0.02 * ((block * 7) % 5) as f64;
        let block = |(block, arm): (usize, &Arm)| Beside {
            block,
            requests: requests[usize::from(*arm == Arm::With)] + scatter(block),
            threads: threads[usize::from(*arm == Arm::With)] + scatter(block),
        };
        design.blocks.iter().enumerate().map(block).collect()
    }

    #[test]
    fn a_thread_that_hogs_a_cpu_is_no_lock() {
        for seed in 0..50 {
            let design = Design::new(seed, 6, 1_000_000_000);
            let why =
                |requests, threads| gained_beside(&design, &simulated(&design, requests, threads));
            // Requests wait for the CPU that it has.
            let hog = why([2.0, 0.3], [1.6, 0.1]);
            assert!(hog.is_some_and(|why| why.contains("became free")), "{seed}");
            // It waits itself, and they wait for it.
            assert_eq!(why([2.0, 0.3], [0.1, 0.1]), None, "{seed}");
            // It computes, which makes little difference to others.
            assert_eq!(why([2.0, 0.3], [0.5, 0.2]), None, "{seed}");
        }
    }

    #[test]
    fn who_gains_nothing_gains_by_nothing() {
        let design = Design::new(3, 6, 1_000_000_000);
        let slower = simulated(&design, [0.5, 1.0], [0.9, 0.1]);
        assert_eq!(gained_beside(&design, &slower), None);
        assert_eq!(gained_beside(&design, &[]), None);
    }

    #[test]
    fn one_disturbed_block_is_chance() {
        let design = Design::new(5, 6, 1_000_000_000);
        let mut blocks = simulated(&design, [0.6, 0.1], [0.0, 0.0]);
        let first = design.blocks.iter().position(|arm| *arm == Arm::Without);
        blocks[first.unwrap()].threads = 5.0;
        assert_eq!(gained_beside(&design, &blocks), None);
    }
}
