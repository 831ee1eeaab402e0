//! The one way a number is drawn here: a portable stream from a seed the caller names.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of indexes; the same on every platform and in every release of this crate.
#[derive(Debug)]
pub(super) struct Draw(ChaCha8Rng);

impl Draw {
    /// The stream of `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// An index in `0..bound` by multiplication and shift (Lemire 2019); its bias is below
    /// `bound / 2^64`, far under anything a resample could show. `bound` must not be 0.
    pub(super) fn index(&mut self, bound: usize) -> usize {
        let product = u128::from(self.0.next_u64()) * (bound as u128);
        (product >> 64) as usize
    }

    /// A number in `0..1`, both excluded, of 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A standard normal number (Box & Muller 1958); the second of each pair is not kept.
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}
