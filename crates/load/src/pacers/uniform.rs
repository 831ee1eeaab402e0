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

    /// The next entry is the first at or after an offset.
    pub(super) fn jump_to(&mut self, offset_ns: u64) {
        let (whole, rest) = (offset_ns / SECOND, offset_ns % SECOND);
        let entries =
            whole as f64 * self.rate_per_s + rest as f64 / SECOND as f64 * self.rate_per_s;
        // One before, in case the product was rounded up to the next whole number.
        self.index = (entries.floor() as u64).saturating_sub(1);
        while self.at(self.index) < offset_ns {
            self.index += 1;
        }
    }

    pub(super) fn next_ns(&mut self) -> u64 {
        self.index += 1;
        self.at(self.index - 1)
    }

    fn at(&self, index: u64) -> u64 {
        let at_s = index as f64 / self.rate_per_s;
        // Whole seconds and their fraction apart: the product of both with 1e9 would lose the
        // last nanoseconds after some weeks.
        let whole = at_s.floor();
        whole as u64 * SECOND + ((at_s - whole) * SECOND as f64).round() as u64
    }
}
