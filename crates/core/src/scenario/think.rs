//! Pauses: how long users think, and how long connections rest.

use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::plan::{below, unit};

/// Exponential pauses end at so many means: one draw in 5e8 would be longer, and the mean moves by
/// less than 1e-7 of itself, while a single draw can no longer outlast every run.
const MOST_MEANS: f64 = 20.0;
/// Lognormal pauses end so many standard deviations of their logarithm above the median: one draw
/// in 30,000 would be longer.
const MOST_DEVIATIONS: f64 = 4.0;

/// A randomly drawn pause, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Think {
    /// Every length from the shortest to the longest alike, both included.
    Uniform {
        /// The shortest pause.
        min_ns: u64,
        /// The longest pause; not below `min_ns`.
        max_ns: u64,
    },
    /// Exponential: the next request may come at any instant, however long the pause has been.
    Exponential {
        /// The mean, above 0.
        mean_ns: u64,
    },
    /// Lognormal: most pauses are short, some are very long, as those of people who read.
    LogNormal {
        /// Half of the pauses are shorter; above 0.
        median_ns: u64,
        /// Nine of ten are shorter; above the median.
        p90_ns: u64,
    },
}

impl Default for Think {
    /// No pause.
    fn default() -> Self {
        Self::Uniform {
            min_ns: 0,
            max_ns: 0,
        }
    }
}

impl Think {
    /// Draws a pause, in nanoseconds. A pause of one length draws nothing.
    pub fn draw_ns(&self, random: &mut ChaCha8Rng) -> u64 {
        match *self {
            Self::Uniform { min_ns, max_ns } => match max_ns.saturating_sub(min_ns) {
                0 => min_ns,
                spread_ns => min_ns + below(random, spread_ns.saturating_add(1)),
            },
            // The inverse of the distribution function `1 - exp(-t / mean)`.
            Self::Exponential { mean_ns } => {
                let means = -(1.0 - unit(random)).ln();
                (mean_ns as f64 * means.min(MOST_MEANS)) as u64
            }
            Self::LogNormal { median_ns, .. } => {
                let deviations = standard().inverse_cdf(unit(random));
                let deviations = deviations.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS);
                (median_ns as f64 * (self.sigma() * deviations).exp()) as u64
            }
        }
    }

    /// The mean of the distribution, in nanoseconds (that of a lognormal one is
    /// `median * exp(sigma^2 / 2)`).
    pub fn mean_ns(&self) -> f64 {
        match *self {
            Self::Uniform { min_ns, max_ns } => f64::midpoint(min_ns as f64, max_ns as f64),
            Self::Exponential { mean_ns } => mean_ns as f64,
            Self::LogNormal { median_ns, .. } => {
                median_ns as f64 * (self.sigma().powi(2) / 2.0).exp()
            }
        }
    }

    /// The shortest and the longest pause that can be drawn, in nanoseconds.
    pub fn range_ns(&self) -> (f64, f64) {
        match *self {
            Self::Uniform { min_ns, max_ns } => (min_ns as f64, max_ns as f64),
            Self::Exponential { mean_ns } => (0.0, mean_ns as f64 * MOST_MEANS),
            Self::LogNormal { median_ns, .. } => {
                let factor = (self.sigma() * MOST_DEVIATIONS).exp();
                (median_ns as f64 / factor, median_ns as f64 * factor)
            }
        }
    }

    /// The share of pauses that are no longer than `ns` nanoseconds.
    pub fn share_within(&self, ns: f64) -> f64 {
        match *self {
            Self::Uniform { min_ns, max_ns } if min_ns < max_ns => {
                ((ns - min_ns as f64) / (max_ns - min_ns) as f64).clamp(0.0, 1.0)
            }
            Self::Uniform { min_ns, .. } => f64::from(u8::from(ns >= min_ns as f64)),
            Self::Exponential { mean_ns } => 1.0 - (-ns.max(0.0) / mean_ns as f64).exp(),
            Self::LogNormal { .. } if ns <= 0.0 => 0.0,
            Self::LogNormal { median_ns, .. } => {
                standard().cdf((ns / median_ns as f64).ln() / self.sigma())
            }
        }
    }

    /// Whether every pause is of length 0.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::Uniform { max_ns: 0, .. })
    }

    /// The standard deviation of the logarithm of a lognormal pause.
    fn sigma(&self) -> f64 {
        match *self {
            Self::LogNormal { median_ns, p90_ns } => {
                (p90_ns as f64 / median_ns as f64).ln() / standard().inverse_cdf(0.9)
            }
            Self::Uniform { .. } | Self::Exponential { .. } => 0.0,
        }
    }
}

fn standard() -> Normal {
    Normal::standard()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn draws(think: Think) -> Vec<u64> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut all: Vec<u64> = (0..20_000).map(|_| think.draw_ns(&mut random)).collect();
        all.sort_unstable();
        all
    }

    fn assert_near(found: f64, wanted: f64) {
        // Five standard errors of 20,000 draws from the widest of these are 5 %.
        assert!((found / wanted - 1.0).abs() < 0.05, "{found} for {wanted}");
    }

    #[test]
    fn draws_have_the_distribution_that_was_asked_for() {
        let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / all.len() as f64;
        let uniform = Think::Uniform {
            min_ns: SECOND,
            max_ns: 3 * SECOND,
        };
        let all = draws(uniform);
        assert!(all[0] >= SECOND && all[all.len() - 1] <= 3 * SECOND);
        assert_near(mean(&all), uniform.mean_ns());
        let exponential = Think::Exponential {
            mean_ns: 2 * SECOND,
        };
        let all = draws(exponential);
        assert_near(mean(&all), 2e9);
        assert_near(all[10_000] as f64, 2e9 * f64::ln(2.0));
        let lognormal = Think::LogNormal {
            median_ns: SECOND,
            p90_ns: 4 * SECOND,
        };
        let all = draws(lognormal);
        assert_near(all[10_000] as f64, 1e9);
        assert_near(all[18_000] as f64, 4e9);
        assert_near(mean(&all), lognormal.mean_ns());
    }

    #[test]
    fn shares_are_those_of_the_draws() {
        let (min_ns, max_ns) = (SECOND, 3 * SECOND);
        for think in [
            Think::Uniform { min_ns, max_ns },
            Think::Exponential { mean_ns: SECOND },
            Think::LogNormal {
                median_ns: min_ns,
                p90_ns: max_ns,
            },
        ] {
            let all = draws(think);
            let (least, most) = think.range_ns();
            assert!(all[0] as f64 >= least - 1.0 && all[all.len() - 1] as f64 <= most + 1.0);
            for rank in [2_000, 10_000, 18_000] {
                let share = think.share_within(all[rank] as f64);
                // Five standard errors of a share of 20,000.
                assert!(
                    (share - rank as f64 / 2e4).abs() < 0.018,
                    "{think:?} {share}"
                );
            }
        }
        let fixed = Think::Uniform {
            min_ns,
            max_ns: min_ns,
        };
        assert_eq!(
            (fixed.share_within(1e9), fixed.share_within(0.9e9)),
            (1.0, 0.0)
        );
        let lognormal = Think::LogNormal {
            median_ns: min_ns,
            p90_ns: max_ns,
        };
        assert!(lognormal.share_within(0.0) < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_fixed_pause_draws_nothing() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let before = random.clone();
        let fixed = Think::Uniform {
            min_ns: 5,
            max_ns: 5,
        };
        assert_eq!(fixed.draw_ns(&mut random), 5);
        assert_eq!(random, before);
        assert!(Think::default().is_none() && !fixed.is_none());
    }

    #[test]
    fn records_say_which_distribution_it_was() {
        let old: Think = serde_json::from_str(r#"{"min_ns":1,"max_ns":2}"#).unwrap();
        assert_eq!(
            old,
            Think::Uniform {
                min_ns: 1,
                max_ns: 2
            }
        );
        for think in [
            Think::Exponential { mean_ns: 3 },
            Think::LogNormal {
                median_ns: 1,
                p90_ns: 4,
            },
        ] {
            let text = serde_json::to_string(&think).unwrap();
            assert_eq!(serde_json::from_str::<Think>(&text).unwrap(), think);
        }
    }

    proptest! {
        #[test]
        fn no_pause_outlasts_its_bound(seed: u64, mean_ns in 1..u64::MAX, p90 in 2..u64::MAX) {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let pause = Think::Exponential { mean_ns }.draw_ns(&mut random);
            prop_assert!(pause as f64 <= mean_ns as f64 * MOST_MEANS * 1.001);
            let lognormal = Think::LogNormal { median_ns: 1, p90_ns: p90 };
            let bound = (p90 as f64).powf(MOST_DEVIATIONS / 1.2815);
            prop_assert!(lognormal.draw_ns(&mut random) as f64 <= bound * 1.001);
        }
    }
}
