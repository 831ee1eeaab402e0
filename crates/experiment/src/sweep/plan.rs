//! What is measured when: every level in every repeat, in random order.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::{Deserialize, Serialize};
use slowpath_core::plan::below;

use super::grid::Grid;

/// The plan of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// What is varied, and the levels that are measured in any case.
    pub grid: Grid,
    /// Windows of each level.
    pub repeats: u32,
    /// Length of a measured window in nanoseconds.
    pub window_ns: u64,
    /// Load before each window in nanoseconds.
    pub warmup_ns: u64,
    /// Levels that may be added where the answer changes most.
    pub refinements: u32,
    /// Decides the order.
    pub seed: u64,
}

/// One window to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The level.
    pub level: f64,
    /// Which of its windows, from 0.
    pub repeat: u32,
}

impl Plan {
    /// The windows of the grid. Each repeat goes through all levels in an order of its own, so
    /// that neither drift of the host nor what remains of a level favours one, and a sweep that
    /// is cut short has seen all levels.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for repeat in 0..self.repeats {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            random.set_stream(u64::from(repeat));
            let mut levels = self.grid.levels.clone();
            // Fisher & Yates.
            for last in (1..levels.len()).rev() {
                levels.swap(last, below(&mut random, last as u64 + 1) as usize);
            }
            cells.extend(levels.into_iter().map(|level| Cell { level, repeat }));
        }
        cells
    }

    /// The windows of a level that was added.
    pub fn cells_of(&self, level: f64) -> Vec<Cell> {
        (0..self.repeats)
            .map(|repeat| Cell { level, repeat })
            .collect()
    }

    /// The most windows that are measured.
    pub fn windows_most(&self) -> u32 {
        (self.grid.levels.len() as u32 + self.refinements) * self.repeats
    }

    /// The seed of a window's own choices.
    pub fn seed_of(&self, cell: Cell) -> u64 {
        // Levels are whole or decimal numbers, whose bits differ.
        let mixed = self.seed ^ cell.level.to_bits().rotate_left(17) ^ u64::from(cell.repeat);
        mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Dimension;

    fn plan(seed: u64) -> Plan {
        let levels = (1..=10).map(f64::from).collect();
        let grid = Grid {
            dimension: Dimension::Connections,
            levels,
        };
        Plan {
            grid,
            repeats: 3,
            window_ns: 1,
            warmup_ns: 1,
            refinements: 4,
            seed,
        }
    }

    #[test]
    fn each_repeat_has_every_level_once_in_its_own_order() {
        let cells = plan(7).cells();
        assert_eq!(cells.len(), 30);
        let order = |repeat: usize| -> Vec<f64> {
            let part = &cells[repeat * 10..][..10];
            assert!(part.iter().all(|c| c.repeat == repeat as u32));
            part.iter().map(|c| c.level).collect()
        };
        for repeat in 0..3 {
            let mut sorted = order(repeat);
            sorted.sort_unstable_by(f64::total_cmp);
            assert_eq!(sorted, plan(7).grid.levels);
        }
        assert_ne!(order(0), order(1));
        assert_eq!(plan(7).cells(), cells, "same seed, same order");
        assert_ne!(plan(8).cells(), cells);
        assert_eq!(plan(7).windows_most(), 42);
    }

    #[test]
    fn windows_have_seeds_of_their_own() {
        let plan = plan(7);
        let mut seeds: Vec<u64> = plan.cells().into_iter().map(|c| plan.seed_of(c)).collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 30);
    }
}
