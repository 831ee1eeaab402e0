//! Equal time batches: the pieces of a run that count as independent observations.

use crate::nanos::scaled;

/// Batches of a repeat that is long enough. Thirty leave 29 degrees of freedom, which costs an
/// interval 4 % of its width, while a batch still outlives most stalls.
pub const BATCHES: u32 = 30;

/// Fewest batches of a repeat, however short: below ten the t quantile eats the interval.
pub const FEWEST_BATCHES: u32 = 10;

/// A batch shorter than this shares its stalls with its neighbours, so a repeat of less than
/// [`BATCHES`] seconds is cut into fewer of them.
pub const SHORTEST_BATCH_NS: u64 = 1_000_000_000;

/// The measured window of one repeat, after warm-up: `begin_ns <= t < end_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First instant that counts.
    pub begin_ns: u64,
    /// First instant that no longer counts.
    pub end_ns: u64,
}

/// How the samples of a run, over all its repeats, fall into batches.
///
/// Batches are numbered through: those of the first repeat, then those of the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batches {
    repeats: Vec<Cut>,
    count: u32,
}

/// One repeat: its window, its number of batches and the number of its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    window: Window,
    first: u32,
    count: u32,
}

impl Batches {
    /// Cuts the window of each repeat into [`BATCHES`] equal batches of at least one second, or,
    /// where that does not fit, into one for each whole second but at least [`FEWEST_BATCHES`].
    pub fn new(windows: &[Window]) -> Self {
        let mut repeats = Vec::with_capacity(windows.len());
        let mut next = 0;
        for &window in windows {
            let span_ns = window.end_ns.saturating_sub(window.begin_ns);
            let whole = (span_ns / SHORTEST_BATCH_NS).min(u64::from(BATCHES)) as u32;
            let count = whole.max(FEWEST_BATCHES);
            repeats.push(Cut {
                window,
                first: next,
                count,
            });
            next += count;
        }
        Self {
            repeats,
            count: next,
        }
    }

    /// Number of batches over all repeats.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The batch of a sample of `repeat` (from 0) that was due at `at_ns`; samples outside the
    /// window belong to its first or last batch.
    ///
    /// # Panics
    ///
    /// If there is no such repeat.
    pub fn of(&self, repeat: usize, at_ns: u64) -> u32 {
        let cut = &self.repeats[repeat];
        let span_ns = cut.window.end_ns.saturating_sub(cut.window.begin_ns).max(1);
        let since_ns = at_ns.saturating_sub(cut.window.begin_ns);
        let batch = scaled(since_ns, cut.count.into(), span_ns);
        cut.first + batch.min(u64::from(cut.count - 1)) as u32
    }
}
