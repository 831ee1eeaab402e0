//! The plan: what a run will do, decided before it begins. Same seed, same bytes.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::scenario::Scenario;

mod choices;
mod lanes;

pub use choices::{Ask, Choice, Choices, Spent};
pub use lanes::{Lane, Order};

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
    /// Which endpoint and pool values a request of the measured window takes.
    Choices,
    /// When requests are scheduled.
    Arrivals,
    /// Think times of users.
    Think,
    /// How long connections rest.
    Rest,
    /// Which endpoint and pool values a request of the warm-up takes.
    WarmupChoices,
}

impl Plan {
    /// The generator of one stream of one repeat. The passes of a repeat share their streams, so
    /// that the warm pass asks for what the cold one asked for, at the same instants.
    pub fn random(&self, repeat: u16, stream: Stream) -> ChaCha8Rng {
        self.random_of_loop(repeat, 0, stream)
    }

    /// As [`Plan::random`], for one of several loops that share the load, from 0: what they draw
    /// is independent.
    pub fn random_of_loop(&self, repeat: u16, index: u32, stream: Stream) -> ChaCha8Rng {
        self.random_of_lane(repeat, index, 0, stream)
    }

    /// As [`Plan::random_of_loop`], for one of its lanes ([`Plan::lanes`]).
    pub fn random_of_lane(&self, repeat: u16, index: u32, lane: u16, stream: Stream) -> ChaCha8Rng {
        let round = repeat / self.passes();
        let number = u64::from(round) << 8 | stream as u64;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(u64::from(lane) << 40 | u64::from(index) << 24 | number);
        random
    }

    /// Passes of a repeat: measured windows that share their choices; 1 without passes.
    pub fn passes(&self) -> u16 {
        self.scenario.load.passes.len().max(1) as u16
    }

    /// The name of the pass that the window numbered `repeat` is; `None` without passes.
    pub fn pass_name(&self, repeat: u16) -> Option<&str> {
        let passes = &self.scenario.load.passes;
        Some(passes.get(usize::from(self.pass_of(repeat)))?.as_str())
    }

    /// Which of the passes the window is that is numbered `repeat`.
    pub fn pass_of(&self, repeat: u16) -> u16 {
        repeat % self.passes()
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
