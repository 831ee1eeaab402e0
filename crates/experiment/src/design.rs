//! Which block of time belongs to which arm.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Fewest blocks an arm: of 6 against 6, blocks that lie three ranks out of place still leave an
/// exact p of 7/924 < 0.01; of 5 against 5, two ranks already give 4/252.
pub const FEWEST_PAIRS: usize = 6;

/// How long after each switch nothing counts: requests under way, sockets and run queues settle
/// within two delayed acknowledgements (40 ms) or three quota periods (100 ms).
pub const GUARD_NS: u64 = 300_000_000;

/// Load before the first block, so that connections are open and caches are warm.
pub const WARMUP_NS: u64 = 2_000_000_000;

/// Whether the intervention is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The system as it was found.
    Without,
    /// The intervention is in force.
    With,
}

impl Arm {
    /// The word used in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Without => "without",
            Self::With => "with",
        }
    }
}

/// The schedule of an experiment: a warm-up, then blocks, each after a guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// Decides the order of the arms.
    pub seed: u64,
    /// The arm of each block. Pairs in random order, then one block without the intervention that
    /// shows whether everything is as before.
    pub blocks: Vec<Arm>,
    /// Length of a block, guard not included, in nanoseconds.
    pub block_ns: u64,
    /// Time before each block in which nothing counts, in nanoseconds. The arm is switched where
    /// the guard begins.
    pub guard_ns: u64,
    /// Load before the first guard, without the intervention, in nanoseconds.
    pub warmup_ns: u64,
    /// A block consists of so many pieces of equal length, each after a guard of its own: for what may
    /// not be in force without a break for as long as a block has to be.
    #[serde(default = "whole")]
    pub pieces: u32,
}

const fn whole() -> u32 {
    1
}

impl Design {
    /// A design of `pairs` pairs (at least [`FEWEST_PAIRS`]) of blocks of `block_ns`, with the
    /// default guard and warm-up.
    pub fn new(seed: u64, pairs: usize, block_ns: u64) -> Self {
        let blocks = Self::blocks(seed, pairs);
        Self {
            seed,
            blocks,
            block_ns,
            guard_ns: GUARD_NS,
            warmup_ns: WARMUP_NS,
            pieces: whole(),
        }
    }

    /// The order of the arms: each pair holds one block of each, in random order, so that slow
    /// drift cannot favour an arm; a last block without the intervention follows.
    pub fn blocks(seed: u64, pairs: usize) -> Vec<Arm> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut blocks = Vec::with_capacity(2 * pairs.max(FEWEST_PAIRS) + 1);
        for _ in 0..pairs.max(FEWEST_PAIRS) {
            // The upper half of the word: the lowest bit would do, but this reads as a coin.
            let heads = random.next_u64() >> 63 == 1;
            let pair = if heads {
                [Arm::With, Arm::Without]
            } else {
                [Arm::Without, Arm::With]
            };
            blocks.extend(pair);
        }
        blocks.push(Arm::Without);
        blocks
    }

    /// The same with so many pairs, in an order of their own.
    #[must_use]
    pub fn again(&self, pairs: usize) -> Self {
        let seed = self.seed.wrapping_add(1);
        Self {
            seed,
            blocks: Self::blocks(seed, pairs),
            ..self.clone()
        }
    }

    /// When the arm of a block is switched to, in nanoseconds from the start of the load; for the
    /// number of blocks, when everything is over.
    pub fn begins_ns(&self, block: usize) -> u64 {
        self.warmup_ns + block as u64 * self.slot_ns()
    }

    /// The length of a block with its guards, in nanoseconds.
    pub fn slot_ns(&self) -> u64 {
        u64::from(self.pieces.max(1)) * self.piece_slot_ns()
    }

    /// The length of a piece with its guard, in nanoseconds.
    pub fn piece_slot_ns(&self) -> u64 {
        self.guard_ns + self.block_ns.div_ceil(u64::from(self.pieces.max(1)))
    }

    /// The length of the whole experiment in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.begins_ns(self.blocks.len())
    }

    /// The block that an instant counts for, in nanoseconds from the start of the load; `None` in
    /// the warm-up, in a guard, and after the end.
    pub fn arm_at(&self, offset_ns: u64) -> Option<(usize, Arm)> {
        let into = offset_ns.checked_sub(self.warmup_ns)?;
        let block = into.checked_div(self.slot_ns())? as usize;
        let arm = *self.blocks.get(block)?;
        (into % self.piece_slot_ns() >= self.guard_ns).then_some((block, arm))
    }

    /// The stretches of a block that count, as offsets from the start of the load in nanoseconds.
    pub fn counted_ns(&self, block: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let begin = self.begins_ns(block);
        (0..u64::from(self.pieces.max(1))).map(move |piece| {
            let piece = begin + piece * self.piece_slot_ns();
            (piece + self.guard_ns, piece + self.piece_slot_ns())
        })
    }

    /// The last block, which checks that things returned to what they were.
    pub(crate) fn last(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn arms_are_balanced_and_the_last_block_is_without(seed: u64, pairs in 0_usize..40) {
            let blocks = Design::blocks(seed, pairs);
            let (last, paired) = blocks.split_last().unwrap();
            prop_assert_eq!(*last, Arm::Without);
            prop_assert_eq!(paired.len(), 2 * pairs.max(FEWEST_PAIRS));
            for pair in paired.chunks(2) {
                prop_assert_ne!(pair[0], pair[1]);
            }
            prop_assert_eq!(Design::blocks(seed, pairs), blocks);
        }

        #[test]
        fn every_instant_counts_for_one_block_or_none(
            offset_ns in 0_u64..40_000_000_000,
            block_ns in 1_u64..2_000_000_000,
        ) {
            let design = Design::new(7, 6, block_ns);
            let inside: Vec<usize> = (0..design.blocks.len())
                .filter(|&block| {
                    let counts_from = design.begins_ns(block) + design.guard_ns;
                    (counts_from..design.begins_ns(block + 1)).contains(&offset_ns)
                })
                .collect();
            prop_assert!(inside.len() <= 1);
            let expected = inside.first().map(|&block| (block, design.blocks[block]));
            prop_assert_eq!(design.arm_at(offset_ns), expected);
        }
    }

    #[test]
    fn each_piece_of_a_block_has_a_guard() {
        let design = Design {
            guard_ns: 10,
            warmup_ns: 100,
            pieces: 3,
            ..Design::new(7, 6, 90)
        };
        assert_eq!((design.slot_ns(), design.begins_ns(2)), (120, 340));
        let counts = |into: u64| design.arm_at(100 + into).map(|(block, _)| block);
        for (into, block) in [
            (9, None),
            (10, Some(0)),
            (39, Some(0)),
            (45, None),
            (50, Some(0)),
        ] {
            assert_eq!(counts(into), block, "{into}");
        }
        assert_eq!(
            (counts(119), counts(125), counts(130)),
            (Some(0), None, Some(1))
        );
        let in_all = (0..120).filter(|&into| counts(into).is_some()).count();
        assert_eq!(in_all, 90);
        let stretches: Vec<(u64, u64)> = design.counted_ns(0).collect();
        assert_eq!(stretches, [(110, 140), (150, 180), (190, 220)]);
    }

    #[test]
    fn both_orders_of_a_pair_occur_as_often() {
        let first_with = (0..1000)
            .flat_map(|seed| {
                Design::blocks(seed, 6)
                    .chunks(2)
                    .map(|c| c[0])
                    .collect::<Vec<_>>()
            })
            .filter(|&arm| arm == Arm::With)
            .count();
        // 6000 fair coins: mean 3000, standard deviation 39.
        assert!((2800..3200).contains(&first_with), "{first_with}");
    }

    #[test]
    fn a_design_of_nothing_has_no_arm() {
        let design = Design {
            block_ns: 0,
            guard_ns: 0,
            ..Design::new(1, 6, 0)
        };
        assert_eq!(design.arm_at(WARMUP_NS), None);
    }
}
