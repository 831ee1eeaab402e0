//! Independent arrivals.

use rand_chacha::ChaCha8Rng;
use slowpath_core::nanos::SECOND;
use slowpath_core::plan::unit;

/// Arrivals of many users who do not know each other: a Poisson process, whose gaps are
/// independent and exponential. With u uniform in `[0, 1)`, `-ln(1 - u) / rate` is such a gap (the
/// inverse of the distribution function `1 - exp(-rate t)`).
#[derive(Debug)]
pub struct Poisson {
    mean_gap_ns: f64,
    at_ns: f64,
    random: ChaCha8Rng,
}

impl Poisson {
    pub(super) fn new(rate_per_s: f64, random: ChaCha8Rng) -> Self {
        Self {
            mean_gap_ns: SECOND as f64 / rate_per_s,
            at_ns: 0.0,
            random,
        }
    }

    /// The next arrival is drawn from an offset on: what is left of an exponential gap at any
    /// instant is exponential again.
    pub(super) fn jump_to(&mut self, offset_ns: u64) {
        self.at_ns = self.at_ns.max(offset_ns as f64);
    }

    pub(super) fn next_ns(&mut self) -> u64 {
        self.at_ns -= (1.0 - unit(&mut self.random)).ln() * self.mean_gap_ns;
        self.at_ns as u64
    }
}
