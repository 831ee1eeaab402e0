//! What each request asks for, drawn from the plan's streams.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use super::{Lane, Plan, Stream, below, unit};
use crate::scenario::{Endpoint, Pick, Pool, Template};

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

impl Choice {
    /// Room for a choice.
    pub fn empty() -> Self {
        Self {
            endpoint: 0,
            picks: Vec::new(),
            uuid: 0,
        }
    }
}

/// Who asks for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ask<'a> {
    /// Position in [`Plan::lanes`].
    pub lane: u16,
    /// The endpoint, where a step says which; by weight otherwise.
    pub endpoint: Option<u16>,
    /// For each variable of the scenario, whether the user's session knows it. Endpoints that
    /// name others are not drawn. A list that ends early knows nothing more.
    pub known: &'a [bool],
    /// Whether it is a request of the warm-up. Those draw from a stream of their own, so that what
    /// the measured window asks for does not depend on how far a busy machine's warm-up came.
    pub is_warmup: bool,
}

/// Every value of a pool with unique values has been given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Position of the pool in the scenario.
    pub pool: usize,
}

/// How one pool is drawn from.
#[derive(Debug)]
enum Draw {
    Alike(u64),
    /// Cumulative weights.
    Weighted(Vec<f64>),
    /// The number of the next value given out, of so many, and how far it is to the one after.
    InOrder {
        next: u64,
        step: u64,
        values: u64,
        once: bool,
    },
    /// The same row as the pool at this position.
    As(usize),
}

#[derive(Debug)]
struct Chooser {
    random: ChaCha8Rng,
    warmup: ChaCha8Rng,
    lane: Lane,
}

/// Draws what each request asks for; see [`Plan::choices`].
#[derive(Debug)]
pub struct Choices {
    lanes: Vec<Chooser>,
    draws: Vec<Draw>,
    /// For each endpoint, the variables that it names.
    needs: Vec<Vec<usize>>,
    /// For each endpoint, the pools whose draws it takes.
    takes: Vec<Vec<usize>>,
    /// For each pool that a key is made of, or a column of it is, how many values it has.
    keyed: Vec<Option<u64>>,
    /// One of so many of these is asked for.
    of: u64,
    /// Keeps the UUIDs of passes apart, which are the same in all else.
    pass: u128,
}

impl Plan {
    /// The endless sequence of requests of one repeat. The passes of a repeat ask for the same.
    pub fn choices(&self, repeat: u16) -> Choices {
        self.choices_of_loop(repeat, 0, 1)
    }

    /// As [`Plan::choices`], for the loop `index` (from 0) `of` so many that share the load: what
    /// they draw is independent, and values that are given out in order are dealt round-robin.
    pub fn choices_of_loop(&self, repeat: u16, index: u32, of: u32) -> Choices {
        let scenario = &self.scenario;
        let lanes = (0..).zip(self.lanes()).map(|(number, lane)| Chooser {
            random: self.random_of_lane(repeat, index, number, Stream::Choices),
            warmup: self.random_of_lane(repeat, index, number, Stream::WarmupChoices),
            lane,
        });
        let draw = |pool| Draw::new(pool, index, of);
        let endpoints = || scenario.endpoints.iter();
        let needs = |endpoint: &Endpoint| {
            let named = endpoint.texts().into_iter().flat_map(Template::variables);
            sorted(named.collect())
        };
        let takes = |endpoint: &Endpoint| {
            let named = endpoint.texts().into_iter().flat_map(Template::pools);
            let leader = |pool: usize| scenario.pools[pool].same_row_as.unwrap_or(pool);
            sorted(named.map(leader).collect())
        };
        let leader = |pool: usize| scenario.pools[pool].same_row_as.unwrap_or(pool);
        let keys = || endpoints().flat_map(|endpoint| &endpoint.key);
        let made_of: Vec<usize> = keys().flat_map(Template::pools).map(leader).collect();
        let keyed = |(pool, of): (usize, &Pool)| {
            let values = of.values.len() as u64;
            // Values that are to be given out once stay so.
            let folds = made_of.contains(&leader(pool)) && of.pick != Pick::Unique;
            folds.then_some(values)
        };
        Choices {
            keyed: scenario.pools.iter().enumerate().map(keyed).collect(),
            of: 1,
            lanes: lanes.collect(),
            draws: scenario.pools.iter().map(draw).collect(),
            needs: endpoints().map(needs).collect(),
            takes: endpoints().map(takes).collect(),
            pass: u128::from(self.pass_of(repeat)),
        }
    }
}

fn sorted(mut positions: Vec<usize>) -> Vec<usize> {
    positions.sort_unstable();
    positions.dedup();
    positions
}

impl Draw {
    fn new(pool: &Pool, index: u32, of: u32) -> Self {
        let values = pool.values.len() as u64;
        if let Some(leader) = pool.same_row_as {
            return Self::As(leader);
        }
        match (pool.pick, &pool.weights) {
            (Pick::Random, None) => Self::Alike(values),
            (Pick::Random, Some(weights)) => Self::Weighted(cumulative(weights)),
            (Pick::Sequence | Pick::Unique, _) => Self::InOrder {
                next: index.into(),
                step: of.max(1).into(),
                values,
                once: pool.pick == Pick::Unique,
            },
        }
    }
}

fn cumulative(weights: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |weight: &f64| {
        sum += weight;
        sum
    };
    weights.iter().map(add).collect()
}

/// The position whose stretch of the cumulative weights holds `at`, which is below their sum. One
/// of weight 0 has no stretch.
fn stretch(cumulative: &[f64], at: f64) -> usize {
    let last = cumulative.len().saturating_sub(1);
    cumulative.partition_point(|&sum| sum <= at).min(last)
}

impl Choices {
    /// From now on requests ask for one in so many values of each pool that keys are made of; for
    /// all of them with 1.
    pub fn keep_one_of(&mut self, of: u32) {
        self.of = u64::from(of.max(1));
    }

    /// Draws the next request into `choice`, reusing its memory.
    ///
    /// # Errors
    /// When a pool of unique values that it takes from has none left; `choice` is of no use then.
    pub fn next_into(&mut self, ask: Ask<'_>, choice: &mut Choice) -> Result<(), Spent> {
        let chooser = &mut self.lanes[usize::from(ask.lane)];
        let random = if ask.is_warmup {
            &mut chooser.warmup
        } else {
            &mut chooser.random
        };
        choice.endpoint = match ask.endpoint {
            Some(endpoint) => endpoint,
            None => by_weight(&chooser.lane, random, &self.needs, ask.known),
        };
        let takes = &self.takes[usize::from(choice.endpoint)];
        choice.picks.clear();
        for (pool, draw) in self.draws.iter_mut().enumerate() {
            let row = match draw {
                Draw::Alike(values) => below(random, *values),
                Draw::Weighted(sums) => {
                    let sum = sums.last().copied().unwrap_or_default();
                    stretch(sums, unit(random) * sum) as u64
                }
                Draw::As(leader) => choice.picks[*leader].into(),
                Draw::InOrder { .. } if takes.binary_search(&pool).is_err() => 0,
                Draw::InOrder {
                    next,
                    step,
                    values,
                    once,
                } => {
                    if *once && *next >= *values {
                        return Err(Spent { pool });
                    }
                    let row = *next % *values;
                    *next += *step;
                    row
                }
            };
            choice.picks.push(kept(self.keyed[pool], self.of, row));
        }
        let high = u128::from(random.next_u64());
        let low = u128::from(random.next_u64());
        choice.uuid = (high << 64 | low) ^ self.pass;
        Ok(())
    }

    /// Draws the values of these pools again for a request that was drawn, and leaves all else of it, and what
    /// is given out in order to others, as it is.
    pub fn redraw(&mut self, ask: Ask<'_>, pools: &[usize], choice: &mut Choice) {
        let chooser = &mut self.lanes[usize::from(ask.lane)];
        let random = if ask.is_warmup {
            &mut chooser.warmup
        } else {
            &mut chooser.random
        };
        for (pool, draw) in self.draws.iter().enumerate() {
            let leader = if let Draw::As(leader) = draw {
                *leader
            } else {
                pool
            };
            if !pools.contains(&leader) {
                continue;
            }
            let row = match draw {
                Draw::Weighted(sums) => {
                    let sum = sums.last().copied().unwrap_or_default();
                    stretch(sums, unit(random) * sum) as u64
                }
                Draw::As(leader) => choice.picks[*leader].into(),
                // The next request takes the next one; a value that is given out once stays given out.
                Draw::InOrder { once: true, .. } => continue,
                Draw::Alike(values) | Draw::InOrder { values, .. } => below(random, *values),
            };
            choice.picks[pool] = kept(self.keyed[pool], self.of, row);
        }
    }

    /// The endpoint of a measured request that will not be sent: by weight, whatever is known.
    pub fn unsent_endpoint(&mut self, lane: u16) -> u16 {
        let Chooser { random, lane, .. } = &mut self.lanes[usize::from(lane)];
        match lane.endpoints.as_slice() {
            [only] => *only,
            _ => by_weight(lane, random, &[], &[]),
        }
    }
}

/// The row that replaces one where only one in `of` of the values that keys are made of is asked for.
fn kept(keyed: Option<u64>, of: u64, row: u64) -> u32 {
    keyed.map_or(row, |values| row % values.div_ceil(of)) as u32
}

/// An endpoint of a lane by weight among those whose variables are known. `needs` may be empty.
fn by_weight(lane: &Lane, random: &mut ChaCha8Rng, needs: &[Vec<usize>], known: &[bool]) -> u16 {
    let is_known = |variable: &usize| known.get(*variable).copied().unwrap_or(false);
    let allowed = |endpoint: u16| {
        let needs = needs.get(usize::from(endpoint));
        needs.is_none_or(|needs| needs.iter().all(is_known))
    };
    let weights = || {
        let all = lane.weights();
        all.map(|(endpoint, weight)| (endpoint, if allowed(endpoint) { weight } else { 0.0 }))
    };
    let sum: f64 = weights().map(|(_, weight)| weight).sum();
    let at = unit(random) * sum;
    let mut before = 0.0;
    let mut last = lane.endpoints.first().copied().unwrap_or_default();
    for (endpoint, weight) in weights() {
        if weight > 0.0 {
            before += weight;
            last = endpoint;
            if at < before {
                break;
            }
        }
    }
    last
}

#[cfg(test)]
mod tests;
