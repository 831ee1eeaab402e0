//! Evenly spaced arrivals.

use slowpath_core::nanos::SECOND;

/// Entry *i* lies at *i* / rate, counted from 0. Each offset is computed from its number, so that
/// no rounding adds up and a window whose ends are whole gaps holds exactly rate x length.
#[derive(Debug)]
pub struct Uniform {
    rate_per_s: f64,
    index: u64,
}

impl Uniform {
    pub(super) fn new(rate_per_s: f64) -> Self {
        Self {
            rate_per_s,
            index: 0,
        }
    }

    pub(super) fn next_ns(&mut self) -> u64 {
        let at_s = self.index as f64 / self.rate_per_s;
        self.index += 1;
        // Whole seconds and their fraction apart: the product of both with 1e9 would lose the
        // last nanoseconds after some weeks.
        let whole = at_s.floor();
        whole as u64 * SECOND + ((at_s - whole) * SECOND as f64).round() as u64
    }
}
