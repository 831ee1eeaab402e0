//! How many samples of each batch lie below some values, counted in one pass over all samples.

use crate::stats::effective::BatchCount;

/// Samples counted between and at some values, batch by batch.
pub(super) struct Steps {
    /// The values, ascending and distinct.
    at: Vec<u64>,
    /// For each batch: the samples below the first value, at it, between it and the second, at
    /// that, and so on.
    cells: Vec<u64>,
    totals: Vec<u64>,
}

impl Steps {
    /// Counts the samples `(batch, value)` around the values `at`, in any order. A `censored`
    /// sample, of which only the batch is known, lies above all.
    pub(super) fn new(
        values: impl Iterator<Item = (u32, u64)>,
        n_batches: u32,
        censored: &[u32],
        mut at: Vec<u64>,
    ) -> Self {
        at.sort_unstable();
        at.dedup();
        let width = 2 * at.len() + 1;
        let mut cells = vec![0; width * n_batches as usize];
        let mut totals = vec![0; n_batches as usize];
        for (batch, value) in values {
            let below = at.partition_point(|&step| step < value);
            let is_at = at.get(below) == Some(&value);
            cells[width * batch as usize + 2 * below + usize::from(is_at)] += 1;
            totals[batch as usize] += 1;
        }
        for &batch in censored {
            totals[batch as usize] += 1;
        }
        Self { at, cells, totals }
    }

    /// The number of batches.
    pub(super) fn batches(&self) -> usize {
        self.totals.len()
    }

    /// How many samples of each batch are at most `value`, which is one of those counted around.
    pub(super) fn at_most(&self, value: u64) -> Vec<BatchCount> {
        self.counts(2 * self.place(value) + 2)
    }

    /// How many are below it.
    pub(super) fn below(&self, value: u64) -> Vec<BatchCount> {
        self.counts(2 * self.place(value) + 1)
    }

    /// How many samples are equal to it.
    pub(super) fn equal(&self, value: u64) -> u64 {
        let cell = 2 * self.place(value) + 1;
        let rows = self.cells.chunks(2 * self.at.len() + 1);
        rows.map(|row| row[cell]).sum()
    }

    fn place(&self, value: u64) -> usize {
        self.at.partition_point(|&step| step < value)
    }

    /// The sum of the first `cells` cells of each batch.
    fn counts(&self, cells: usize) -> Vec<BatchCount> {
        let rows = self.cells.chunks(2 * self.at.len() + 1);
        rows.zip(&self.totals)
            .map(|(row, &total)| BatchCount {
                hits: row[..cells].iter().sum(),
                total,
            })
            .collect()
    }
}
