//! Work with a known cost, and the random numbers that vary it.

use std::hint::black_box;
use std::time::Duration;

use crate::sys;

/// Rounds between two looks at the clock: some 10 us, far below any burn asked for and far
/// above the cost of reading the clock.
const ROUNDS_PER_LOOK: u32 = 10_000;

/// Mixes for a fixed number of rounds: always the same work for the same input.
pub(crate) fn mix(seed: u64, rounds: u32) -> u64 {
    let mut state = seed;
    for _ in 0..rounds {
        state = black_box(state.rotate_left(23) ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(5);
    }
    state
}

/// Uses this much CPU time of the calling thread. CPU time and not wall time: a thread that is
/// kept from running must still do all of its work afterwards.
pub(crate) fn burn(cpu: Duration) {
    let end = sys::thread_cpu() + cpu;
    while sys::thread_cpu() < end {
        black_box(mix(1, ROUNDS_PER_LOOK));
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): any number, for each index under a seed another.
pub(crate) fn scatter(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number in [0, 1) for each index under a seed.
pub(crate) fn uniform(seed: u64, index: u64) -> f64 {
    (scatter(seed, index) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burn_uses_at_least_the_cpu_time_asked_for() {
        let before = sys::thread_cpu();
        burn(Duration::from_millis(2));
        assert!(sys::thread_cpu().checked_sub(before).unwrap() >= Duration::from_millis(2));
    }

    #[test]
    fn uniform_is_repeatable_and_fills_the_interval_evenly() {
        let mut tenths = [0_u32; 10];
        for index in 0..10_000 {
            let value = uniform(7, index);
            assert_eq!(value.to_bits(), uniform(7, index).to_bits());
            tenths[(value * 10.0) as usize] += 1;
        }
        // Binomial(10000, 0.1) has a standard deviation of 30; the seed is fixed.
        assert!(
            tenths.iter().all(|&count| (850..1150).contains(&count)),
            "{tenths:?}"
        );
    }
}
