//! The plan: what a run will do, decided before it begins. Same seed, same bytes.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;

/// A scenario with every choice made: command line applied, seed drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The scenario, overrides of the command line applied.
    pub scenario: Scenario,
    /// Seeds every random choice of the run.
    pub seed: u64,
    /// The release that is measured, if the user named it.
    pub release: Option<String>,
}

/// Independent streams of random numbers of one repeat, so that a change in how one is used does
/// not shift the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Which endpoint and pool values a request takes.
    Choices,
    /// When requests are scheduled.
    Arrivals,
    /// Think times of users.
    Think,
}

/// What one request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Position of its endpoint in the scenario.
    pub endpoint: u16,
    /// For each pool of the scenario, the position of the value to take.
    pub picks: Vec<u32>,
    /// The value of `{uuid}`.
    pub uuid: u128,
}

impl Plan {
    /// The generator of one stream of one repeat.
    pub fn random(&self, repeat: u16, stream: Stream) -> ChaCha8Rng {
        self.random_of_loop(repeat, 0, stream)
    }

    /// As [`Plan::random`], for one of several loops that share the load, from 0: what they draw
    /// is independent.
    pub fn random_of_loop(&self, repeat: u16, index: u32, stream: Stream) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let number = u64::from(index) << 24 | u64::from(repeat) << 8 | stream as u64;
        random.set_stream(number);
        random
    }

    /// The endless sequence of requests of one repeat.
    pub fn choices(&self, repeat: u16) -> Choices {
        self.choices_of_loop(repeat, 0)
    }

    /// As [`Plan::choices`], for one of several loops that share the load, from 0.
    pub fn choices_of_loop(&self, repeat: u16, index: u32) -> Choices {
        let weights = self
            .scenario
            .endpoints
            .iter()
            .map(|endpoint| endpoint.weight);
        let mut sum = 0.0;
        let cumulative = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        let pools = self
            .scenario
            .pools
            .iter()
            .map(|pool| pool.values.len() as u64)
            .collect();
        Choices {
            random: self.random_of_loop(repeat, index, Stream::Choices),
            cumulative,
            pools,
        }
    }
}

/// Draws what each request asks for; see [`Plan::choices`].
#[derive(Debug)]
pub struct Choices {
    random: ChaCha8Rng,
    cumulative: Vec<f64>,
    pools: Vec<u64>,
}

impl Choices {
    /// Draws the next request into `choice`, reusing its memory.
    pub fn next_into(&mut self, choice: &mut Choice) {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let at = unit(&mut self.random) * total;
        let last = self.cumulative.len().saturating_sub(1);
        let endpoint = self.cumulative.partition_point(|&c| c <= at).min(last);
        choice.endpoint = endpoint as u16;
        choice.picks.clear();
        for &values in &self.pools {
            choice.picks.push(below(&mut self.random, values) as u32);
        }
        let high = u128::from(self.random.next_u64());
        choice.uuid = high << 64 | u128::from(self.random.next_u64());
    }
}

/// A number in `[0, 1)` with 53 random bits.
pub fn unit(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A number in `0..bound` (0 for a bound of 0) by Lemire's multiplication; its bias of at most
/// `bound / 2^64` is far below anything a run could notice.
pub fn below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}
