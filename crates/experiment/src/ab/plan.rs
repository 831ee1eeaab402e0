//! What is fixed before anything is measured.

use serde::{Deserialize, Serialize};
use slowpath_core::stats::power::{ALPHA, Design};
use slowpath_core::stats::student;

use super::noise::MetricNoise;

/// The difference that is looked for, as a share, unless another is asked for.
pub const EFFECT: f64 = 0.10;

/// Fewest pairs: with fewer, all pairs but one agreeing is no agreement.
const PAIRS_FEWEST: u32 = 5;

/// Pairs while nothing is known of the host's noise; the first of them show it.
const PAIRS_UNKNOWN: u32 = 10;

/// Most pairs, unless more are asked for: people wait for them.
pub const PAIRS_MOST: u32 = 20;

/// Pairs whose scatter (and nothing else of them) may raise the number of pairs. A sample size
/// that follows the variance alone leaves the error of the test as it is to within a percent
/// (Wittes & Brittain 1990).
pub const PILOT_PAIRS: u32 = 3;

/// A setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Arm {
    /// The system as it is.
    A,
    /// The other.
    B,
}

impl Arm {
    /// As files and reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Compared {
    /// A toggle of the scenario: B switches it on.
    Toggle {
        /// Its name.
        name: String,
    },
    /// Two commands that start the target.
    Commands {
        /// That of A.
        a: String,
        /// That of B.
        b: String,
    },
    /// The targets of two scenarios under the load of the first.
    Scenarios {
        /// That of B, as named.
        other: String,
    },
    /// The same thing twice: what the host makes of nothing.
    Same,
}

/// What is compared of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Metric {
    /// Median latency.
    #[serde(rename = "p50")]
    P50,
    /// 90th percentile.
    #[serde(rename = "p90")]
    P90,
    /// 95th percentile.
    #[serde(rename = "p95")]
    P95,
    /// 99th percentile.
    #[serde(rename = "p99")]
    P99,
    /// Share of the requests that are slower than the threshold: sees a slow mode of a percent,
    /// which percentiles step over.
    #[serde(rename = "slow-share")]
    SlowShare,
    /// Completed requests a second.
    #[serde(rename = "rate")]
    Rate,
    /// Share of the requests that failed.
    #[serde(rename = "errors")]
    Errors,
}

/// All of them: with the endpoints, the family of tests.
pub const METRICS: [Metric; 7] = [
    Metric::P50,
    Metric::P90,
    Metric::P95,
    Metric::P99,
    Metric::SlowShare,
    Metric::Rate,
    Metric::Errors,
];

impl Metric {
    /// As figures and reports call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::SlowShare => "slow-share",
            Self::Rate => "rate",
            Self::Errors => "errors",
        }
    }

    /// Whether it is counted, so that odds are compared and not values.
    pub const fn is_share(self) -> bool {
        matches!(self, Self::SlowShare | Self::Errors)
    }
}

/// What was fixed before the first pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// What is compared.
    pub compared: Compared,
    /// Decides which arm begins, and all that is random in the load.
    pub seed: u64,
    /// Pairs of blocks.
    pub pairs: u32,
    /// Whether the first pairs' scatter may raise their number.
    pub may_grow: bool,
    /// Most pairs that it may become.
    pub pairs_most: u32,
    /// Length of a block, in nanoseconds.
    pub window_ns: u64,
    /// Load before each block, in nanoseconds.
    pub warmup_ns: u64,
    /// The difference that is looked for, as a share.
    pub effect: f64,
    /// The endpoints; with [`METRICS`] the family of tests.
    pub endpoints: Vec<String>,
    /// What is known of this host's noise with such blocks, from earlier comparisons.
    pub noise: Vec<MetricNoise>,
}

/// What a number of pairs can see of one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sees {
    /// Which metric.
    pub metric: Metric,
    /// The smallest difference that is found in four of five comparisons, as a share.
    pub effect: f64,
}

impl Plan {
    /// The number of tests.
    pub fn family(&self) -> usize {
        self.endpoints.len() * METRICS.len()
    }

    /// The arms of each pair, in order: ABBA BAAB BAAB ABBA …, the sequence of Thue and Morse,
    /// which is balanced against drifts of any low order; the seed decides which arm begins.
    pub fn order(&self) -> Vec<[Arm; 2]> {
        (0..self.pairs)
            .map(|pair| {
                if u64::from(pair.count_ones()) % 2 == self.seed % 2 {
                    [Arm::A, Arm::B]
                } else {
                    [Arm::B, Arm::A]
                }
            })
            .collect()
    }

    /// The seed of a pair: both of its blocks ask for the same, at the same instants.
    pub fn seed_of(&self, pair: u32) -> u64 {
        self.seed.wrapping_add(u64::from(pair) + 1)
    }

    /// The test that is planned for: a difference in a single one of the family must be found,
    /// so each may spend its part of the error only.
    fn design(&self) -> Design {
        Design {
            alpha: ALPHA / self.family().max(1) as f64,
            ..Design::default()
        }
    }

    /// How many pairs find the wanted effect in the medians, within the limits.
    pub fn pairs_for(&self, noise: &[MetricNoise]) -> u32 {
        let Some(of_p50) = noise.iter().find(|noise| noise.metric == Metric::P50) else {
            return PAIRS_UNKNOWN.min(self.pairs_most);
        };
        let design = self.design();
        let finds = |pairs: u32| {
            design.power_for(1.0 + self.effect, pairs as usize, of_p50.sd_log) >= design.power
        };
        // More pairs find more, so halving finds the fewest.
        let (mut few, mut enough) = (PAIRS_FEWEST.min(self.pairs_most), self.pairs_most);
        while few < enough {
            let middle = few.midpoint(enough);
            if finds(middle) {
                enough = middle;
            } else {
                few = middle + 1;
            }
        }
        enough
    }

    /// What the planned pairs can see, metric by metric, with such noise: what is found beyond
    /// chance *and* shows itself as at least the least difference that is claimed, each with the
    /// planned power. A true difference of just that least shows less half of the time.
    pub fn sees(&self, noise: &[MetricNoise]) -> Vec<Sees> {
        let design = self.design();
        let spare = student::upper_point(1.0 - design.power, f64::INFINITY);
        let sees = |noise: &MetricNoise| {
            let beyond_chance = design.detectable_ratio(self.pairs as usize, noise.sd_log)?;
            let error = noise.sd_log / f64::from(self.pairs).sqrt();
            let large = (1.0 + noise.minimum()) * (spare * error).exp();
            Some(Sees {
                metric: noise.metric,
                effect: beyond_chance.max(large) - 1.0,
            })
        };
        noise.iter().filter_map(sees).collect()
    }

    /// The least difference that is claimed for a metric, as a share.
    pub fn minimum(&self, metric: Metric) -> f64 {
        let known = self.noise.iter().find(|noise| noise.metric == metric);
        known.map_or(super::noise::EFFECT_LEAST, MetricNoise::minimum)
    }

    /// Seconds that it takes when starting and judging a block takes `overhead_s`.
    pub fn lasts_s(&self, overhead_s: f64) -> f64 {
        let blocks = f64::from(2 * self.pairs + 1);
        blocks * ((self.window_ns + self.warmup_ns) as f64 / 1e9 + overhead_s)
    }
}

/// What can be seen, in words: `p50 >= 4.1 %, p99 >= 12 %`.
pub fn sees_words(sees: &[Sees]) -> String {
    let one = |sees: &Sees| {
        let odds = if sees.metric.is_share() {
            " of the odds"
        } else {
            ""
        };
        let effect = crate::wording::percent(sees.effect);
        format!("{} >= {effect}{odds}", sees.metric.name())
    };
    sees.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(pairs: u32, seed: u64) -> Plan {
        Plan {
            compared: Compared::Same,
            seed,
            pairs,
            may_grow: false,
            pairs_most: PAIRS_MOST,
            window_ns: 2_000_000_000,
            warmup_ns: 500_000_000,
            effect: EFFECT,
            endpoints: vec!["a".to_owned()],
            noise: Vec::new(),
        }
    }

    fn noise(sd_log: f64, floor: Option<f64>) -> MetricNoise {
        MetricNoise {
            metric: Metric::P50,
            sd_log,
            floor,
            from: 1,
        }
    }

    #[test]
    fn the_order_favours_no_drift() {
        let letters = |seed| -> String {
            let order = plan(8, seed).order();
            order.iter().flatten().map(|arm| arm.name()).collect()
        };
        assert_eq!(letters(0), "abbabaabbaababba");
        assert_eq!(letters(1), "baababbaabbabaab");
        // The sum of places, of their squares and of their cubes is the same for both arms.
        let order: Vec<Arm> = plan(8, 0).order().into_iter().flatten().collect();
        for power in 0..4 {
            let sum = |arm| -> i64 {
                let places = order.iter().zip(1_i64..).filter(|(a, _)| **a == arm);
                places.map(|(_, place)| place.pow(power)).sum()
            };
            assert_eq!(sum(Arm::A), sum(Arm::B), "{power}");
        }
    }

    #[test]
    fn pairs_follow_the_noise_within_limits() {
        let plan = plan(10, 0);
        assert_eq!(plan.pairs_for(&[]), 10);
        assert_eq!(plan.pairs_for(&[noise(0.001, None)]), 5);
        assert_eq!(plan.pairs_for(&[noise(1.0, None)]), 20);
        let some = plan.pairs_for(&[noise(0.05, None)]);
        assert!((6..12).contains(&some), "{some}");
        let enough = Plan {
            pairs: some,
            ..plan
        };
        assert!(enough.sees(&[noise(0.05, None)])[0].effect <= EFFECT);
    }

    #[test]
    fn a_floor_hides_what_is_smaller_than_twice_itself() {
        let mut plan = plan(20, 0);
        assert!((plan.minimum(Metric::P50) - 0.05).abs() < 1e-12);
        plan.noise = vec![noise(0.001, Some(0.04))];
        assert!((plan.minimum(Metric::P50) - 0.08).abs() < 1e-12);
        assert!((plan.minimum(Metric::P99) - 0.05).abs() < 1e-12);
        // 1.08 and 0.8416 standard errors, so that four of five differences show as 8 %.
        let sees = plan.sees(&plan.noise)[0].effect;
        assert!((sees - (1.08 * (0.8416 * 0.001 / 20_f64.sqrt()).exp() - 1.0)).abs() < 1e-7);
        assert_eq!(sees_words(&plan.sees(&plan.noise)), "p50 >= 8.0 %");
    }
}
