//! When the requests of an open loop are scheduled, as offsets from the start of the load.
//!
//! Pure: no clock, no waiting. A pacer is an endless increasing sequence; who sends decides how
//! far to follow it. That is why a backlog needs no queue: it is the part of the sequence between
//! the last entry taken and the present.
#![warn(clippy::disallowed_methods)]

use rand_chacha::ChaCha8Rng;
use slowpath_core::scenario::Arrivals;

mod poisson;
mod uniform;

use poisson::Poisson;
use uniform::Uniform;

/// A schedule of one rate.
#[derive(Debug)]
pub enum Pacer {
    /// Evenly spaced.
    Uniform(Uniform),
    /// Independent arrivals.
    Poisson(Box<Poisson>),
}

impl Pacer {
    /// A schedule of `rate_per_s` (above 0) requests a second. Only Poisson arrivals draw from
    /// `random`.
    pub fn new(rate_per_s: f64, arrivals: Arrivals, random: ChaCha8Rng) -> Self {
        match arrivals {
            Arrivals::Uniform => Self::Uniform(Uniform::new(rate_per_s)),
            Arrivals::Poisson => Self::Poisson(Box::new(Poisson::new(rate_per_s, random))),
        }
    }

    /// Leaves out what lies before an offset, without drawing it; the offset of the first request
    /// from there on, in nanoseconds.
    pub fn jump_ns(&mut self, offset_ns: u64) -> u64 {
        match self {
            Self::Uniform(uniform) => uniform.jump_to(offset_ns),
            Self::Poisson(poisson) => poisson.jump_to(offset_ns),
        }
        self.next_ns()
    }

    /// The offset of the next request in nanoseconds; never less than the one before.
    pub fn next_ns(&mut self) -> u64 {
        match self {
            Self::Uniform(uniform) => uniform.next_ns(),
            Self::Poisson(poisson) => poisson.next_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    fn offsets(rate: f64, arrivals: Arrivals, seed: u64, horizon_ns: u64) -> Vec<u64> {
        let mut pacer = Pacer::new(rate, arrivals, ChaCha8Rng::seed_from_u64(seed));
        std::iter::repeat_with(|| pacer.next_ns())
            .take_while(|&ns| ns < horizon_ns)
            .collect()
    }

    proptest! {
        #[test]
        fn offsets_never_decrease(rate in 0.1_f64..1e6, seed: u64, poisson: bool) {
            let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Uniform };
            let mut pacer = Pacer::new(rate, arrivals, ChaCha8Rng::seed_from_u64(seed));
            let mut last = 0;
            for _ in 0..1000 {
                let next = pacer.next_ns();
                prop_assert!(next >= last);
                last = next;
            }
        }

        #[test]
        fn uniform_arrivals_count_the_integral_of_the_rate(
            rate in 1_u32..20_000, millis in 1_u64..3_000,
        ) {
            let count = offsets(f64::from(rate), Arrivals::Uniform, 0, millis * 1_000_000).len();
            // Entry i lies at i / rate, the first at 0: ceil(rate * time) lie below time.
            prop_assert_eq!(count as u64, (u64::from(rate) * millis).div_ceil(1000));
        }

        #[test]
        fn poisson_arrivals_count_the_integral_of_the_rate_within_chance(
            rate in 100.0_f64..20_000.0, seed: u64,
        ) {
            let count = offsets(rate, Arrivals::Poisson, seed, 1_000_000_000).len() as f64;
            // Six standard deviations: one false alarm in 5e8 draws.
            prop_assert!((count - rate).abs() < 6.0 * rate.sqrt(), "{} of {}", count, rate);
        }

        #[test]
        fn a_jump_leads_into_the_same_schedule(rate in 1_u32..20_000, millis in 1_u64..3_000) {
            let random = ChaCha8Rng::seed_from_u64(1);
            let mut pacer = Pacer::new(f64::from(rate), Arrivals::Uniform, random);
            let offset_ns = millis * 1_000_000;
            let whole = offsets(f64::from(rate), Arrivals::Uniform, 1, offset_ns + 2_000_000_000);
            let landed = pacer.jump_ns(offset_ns);
            prop_assert!(landed >= offset_ns);
            prop_assert!(whole.iter().filter(|&&at| at >= offset_ns).take(1).all(|&at| at == landed));
        }

        #[test]
        fn a_jump_leaves_as_many_arrivals_as_there_were(seed: u64) {
            let random = ChaCha8Rng::seed_from_u64(seed);
            let mut pacer = Pacer::new(5000.0, Arrivals::Poisson, random);
            let mut at = pacer.jump_ns(7_000_000_000);
            let mut count = 0.0;
            while at < 8_000_000_000 {
                prop_assert!(at >= 7_000_000_000);
                count += 1.0;
                at = pacer.next_ns();
            }
            // Six standard deviations: one false alarm in 5e8 draws.
            prop_assert!((count - 5000.0_f64).abs() < 6.0 * 5000.0_f64.sqrt(), "{}", count);
        }

        #[test]
        fn the_same_seed_gives_the_same_schedule(rate in 1.0_f64..1e5, seed: u64) {
            let of = |seed| offsets(rate, Arrivals::Poisson, seed, 100_000_000);
            prop_assert_eq!(of(seed), of(seed));
        }
    }

    #[test]
    fn gaps_vary_as_their_distribution_says() {
        let variation = |arrivals| {
            let at = offsets(5000.0, arrivals, 7, 10_000_000_000);
            let gaps: Vec<f64> = at
                .windows(2)
                .map(|pair| (pair[1] - pair[0]) as f64)
                .collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            (squares / gaps.len() as f64).sqrt() / mean
        };
        assert!(variation(Arrivals::Uniform) < 1e-4);
        assert!((variation(Arrivals::Poisson) - 1.0).abs() < 0.03);
    }
}
