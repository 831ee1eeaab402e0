//! Random numbers of the tests: always the same ones.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// A number between 0 and 1.
pub(super) fn unit(random: &mut ChaCha8Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A standard normal number (Box & Muller 1958).
pub(super) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * unit(random).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}
