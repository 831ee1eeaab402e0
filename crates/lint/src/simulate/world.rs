//! A scenario and a model, prepared for many runs.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_core::plan::{below, unit};
use slowpath_core::scenario::{ConnectionUse, Endpoint, Model, Pick, Scenario, deal};

use crate::keyspace::{Combinations, Picks, combinations, entry, text_of};
use crate::workload::{Class, classes};

/// An answer as a cache keeps it.
pub(super) type Entry = u64;

/// What does not change from run to run.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) classes: Vec<Class>,
    /// Which class each user is of, in order of their start.
    pub(super) class_of_user: Vec<u16>,
    /// Position of each class's endpoints' cumulative shares.
    cumulative: Vec<Vec<f64>>,
    pub(super) endpoints: Vec<Prepared>,
    pub(super) slots: Option<u32>,
    pub(super) singleflight: bool,
    /// The bound on requests under way; `None` where each user has a connection.
    pub(super) connections: Option<u32>,
}

/// One endpoint, prepared.
#[derive(Debug)]
pub(super) struct Prepared {
    keys: Keys,
    model: EndpointModel,
}

#[derive(Debug)]
enum Keys {
    /// Every request is its own.
    Own,
    /// These, each with whether it needs the backend, and their cumulative probabilities.
    Listed(Vec<(Entry, bool)>, Vec<f64>),
    /// These, given out with the rows of a pool.
    InOrder {
        all: Vec<(Entry, bool)>,
        pool: usize,
        once: bool,
    },
    /// So many, too many to list, from a number on; of which so many need the backend.
    Counted {
        first: Entry,
        keys: u64,
        expensive: u64,
        draw: Draw,
    },
}

/// How one of many keys is drawn.
#[derive(Debug)]
enum Draw {
    /// All alike.
    Alike,
    /// By their cumulative probabilities.
    Weighted(Vec<f64>),
    /// With the rows of a pool.
    InOrder { pool: usize, once: bool },
}

/// What one request asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ask {
    /// Under which its answer is kept, if it is.
    pub(super) entry: Option<Entry>,
    /// What it takes on the backend when it has to be computed.
    pub(super) backend_ns: Option<u64>,
    /// What it takes beside.
    pub(super) latency_ns: u64,
    /// How long a computed answer is kept.
    pub(super) ttl_ns: Option<u64>,
}

impl<'a> World<'a> {
    pub(super) fn new(scenario: &'a Scenario, model: &TargetModel) -> Self {
        let classes = classes(scenario);
        let load = &scenario.load;
        let users = match load.model {
            Model::Closed { users, .. } => users,
            Model::Open { .. } => 0,
        };
        let per_user = users > 0 && load.connection == ConnectionUse::PerUser;
        let shares: Vec<f64> = classes.iter().map(|class| class.users).collect();
        Self {
            scenario,
            class_of_user: deal(&shares, users),
            cumulative: classes
                .iter()
                .map(|class| cumulative(&class.shares))
                .collect(),
            endpoints: prepare(scenario, model),
            slots: model.slots,
            singleflight: model.singleflight,
            connections: (!per_user).then_some(load.connections),
            classes,
        }
    }

    /// The endpoint that a request of a class goes to.
    pub(super) fn endpoint(&self, class: usize, random: &mut ChaCha8Rng) -> usize {
        at(&self.cumulative[class], random)
    }
}

impl Prepared {
    /// What a request of this endpoint asks for; `None` when a pool of values to be used once has
    /// none left. `next` counts what was given out of each pool.
    pub(super) fn ask(&self, next: &mut [u64], random: &mut ChaCha8Rng) -> Option<Ask> {
        let (entry, expensive) = match &self.keys {
            Keys::Own => (None, is_expensive(&self.model, random)),
            Keys::Listed(all, sums) => {
                let (entry, expensive) = all[at(sums, random)];
                (Some(entry), expensive)
            }
            Keys::InOrder { all, pool, once } => {
                let row = next_row(next, *pool, *once, all.len() as u64)?;
                let (entry, expensive) = all[row as usize];
                (Some(entry), expensive)
            }
            Keys::Counted {
                first,
                keys,
                expensive,
                draw,
            } => {
                let key = match draw {
                    Draw::Alike => below(random, *keys),
                    Draw::Weighted(sums) => at(sums, random) as u64,
                    Draw::InOrder { pool, once } => next_row(next, *pool, *once, *keys)?,
                };
                (Some(first + key), key < *expensive)
            }
        };
        let needs = self.model.backend.as_ref().filter(|_| expensive);
        Some(Ask {
            entry: entry.filter(|_| self.model.cached),
            backend_ns: needs.map(|times| draw(times, random)),
            latency_ns: draw(&self.model.latency, random),
            ttl_ns: self.model.ttl_ns,
        })
    }
}

/// The next of so many rows of a pool; `None` when each is given out once and none is left.
fn next_row(next: &mut [u64], pool: usize, once: bool, rows: u64) -> Option<u64> {
    let number = next[pool];
    if once && number >= rows {
        return None;
    }
    next[pool] += 1;
    Some(number % rows)
}

/// Whether a request that is its own needs the backend.
fn is_expensive(model: &EndpointModel, random: &mut ChaCha8Rng) -> bool {
    match model.expensive {
        Expensive::Share(share) => unit(random) < share,
        Expensive::Count(count) => count > 0,
        Expensive::Keys(_) => false,
    }
}

/// A time drawn from a distribution.
fn draw(times: &Times, random: &mut ChaCha8Rng) -> u64 {
    match times {
        Times::Uniform { min_ns, max_ns } => uniform(*min_ns, *max_ns, random),
        Times::Measured(times) => {
            let at = below(random, times.len() as u64) as usize;
            times.get(at).copied().unwrap_or_default()
        }
    }
}

/// The position drawn by cumulative weights.
fn at(sums: &[f64], random: &mut ChaCha8Rng) -> usize {
    let at = unit(random) * sums.last().copied().unwrap_or_default();
    let last = sums.len().saturating_sub(1);
    sums.partition_point(|&sum| sum <= at).min(last)
}

fn uniform(min_ns: u64, max_ns: u64, random: &mut ChaCha8Rng) -> u64 {
    min_ns + below(random, max_ns.saturating_sub(min_ns).saturating_add(1))
}

fn cumulative(shares: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let add = |share: &f64| {
        sum += share;
        sum
    };
    shares.iter().map(add).collect()
}

fn prepare(scenario: &Scenario, model: &TargetModel) -> Vec<Prepared> {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    // Keys that are counted and not listed have numbers after all that are.
    let mut next_counted: Entry = 1 << 32;
    let one = |endpoint: &Endpoint| {
        let model = model.endpoint(&endpoint.name);
        let mut list = |all: &[&Picks]| listed(scenario, endpoint, &model, all, &mut entries);
        let keys = match combinations(scenario, endpoint) {
            Combinations::Own => Keys::Own,
            Combinations::Listed(all) => {
                let chances: Vec<f64> = all.iter().map(|(_, p)| *p).collect();
                let picks: Vec<&Picks> = all.iter().map(|(picks, _)| picks).collect();
                Keys::Listed(list(&picks), cumulative(&chances))
            }
            Combinations::InOrder(pool, all) => Keys::InOrder {
                all: list(&all.iter().collect::<Vec<_>>()),
                pool,
                once: scenario.pools[pool].pick == Pick::Unique,
            },
            Combinations::Counted(keys, pool) => {
                let first = next_counted;
                next_counted += keys;
                let expensive = match &model.expensive {
                    Expensive::Count(count) => u64::from(*count),
                    Expensive::Share(share) => (share * keys as f64).round() as u64,
                    Expensive::Keys(named) => named.len() as u64,
                };
                Keys::Counted {
                    first,
                    keys,
                    expensive,
                    draw: how_drawn(scenario, pool),
                }
            }
        };
        Prepared { keys, model }
    };
    scenario.endpoints.iter().map(one).collect()
}

/// How the rows of a pool are drawn; all alike where the keys are those of several pools.
fn how_drawn(scenario: &Scenario, pool: Option<usize>) -> Draw {
    let Some(pool) = pool else {
        return Draw::Alike;
    };
    match (scenario.pools[pool].pick, &scenario.pools[pool].weights) {
        (Pick::Random, Some(weights)) => Draw::Weighted(cumulative(weights)),
        (Pick::Random, None) => Draw::Alike,
        (pick, _) => Draw::InOrder {
            pool,
            once: pick == Pick::Unique,
        },
    }
}

fn listed(
    scenario: &Scenario,
    endpoint: &Endpoint,
    model: &EndpointModel,
    all: &[&Picks],
    entries: &mut BTreeMap<String, Entry>,
) -> Vec<(Entry, bool)> {
    let mut order: BTreeMap<String, usize> = BTreeMap::new();
    let texts: Vec<String> = all
        .iter()
        .map(|picks| {
            let key = endpoint.key.as_ref();
            key.map_or(String::new(), |key| text_of(scenario, key, picks))
        })
        .collect();
    for text in &texts {
        let number = order.len();
        order.entry(text.clone()).or_insert(number);
    }
    let expensive = |text: &String| match &model.expensive {
        Expensive::Count(count) => order[text] < *count as usize,
        Expensive::Share(share) => {
            // The first ones up to the share, rounded to whole keys.
            order[text] < (share * order.len() as f64).round() as usize
        }
        Expensive::Keys(named) => named.contains(text),
    };
    all.iter()
        .zip(&texts)
        .map(|(picks, text)| {
            let next = entries.len() as Entry;
            let id = *entries
                .entry(entry(scenario, endpoint, picks))
                .or_insert(next);
            (id, expensive(text))
        })
        .collect()
}
