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
}
