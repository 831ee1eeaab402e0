//! Requests for different keys: one that would ask for a key which is asked for already draws again.

use slowpath_core::plan::{Ask, Choice, Choices, Plan};
use slowpath_core::scenario::Template;

/// How often a request draws again. One of a hundred keys that is asked for half of the time is met
/// with by chance alone once in 2^64.
const DRAWS_MOST: u32 = 64;
/// Of a request without a key.
const NONE: u64 = 0;

/// The keys under way.
#[derive(Debug)]
pub(super) struct Apart {
    /// Whether requests are kept apart.
    pub(super) on: bool,
    /// For each endpoint, the pools that its key is made of.
    pools: Vec<Vec<usize>>,
    /// For each slot, what its request asks for.
    asked: Vec<u64>,
}

impl Apart {
    /// For so many slots, none of which asks for anything.
    pub(super) fn new(plan: &Plan, slots: u32) -> Self {
        let scenario = &plan.scenario;
        let leader = |pool: usize| scenario.pools[pool].same_row_as.unwrap_or(pool);
        let of_key = |key: &Template| -> Vec<usize> {
            let mut pools: Vec<usize> = key.pools().map(leader).collect();
            pools.sort_unstable();
            pools.dedup();
            pools
        };
        let endpoints = scenario.endpoints.iter();
        Self {
            on: false,
            pools: endpoints
                .map(|e| e.key.as_ref().map(of_key).unwrap_or_default())
                .collect(),
            asked: vec![NONE; slots as usize],
        }
    }

    /// Draws the key again, if requests are kept apart, as long as another one asks for the same.
    pub(super) fn part(&self, choices: &mut Choices, ask: Ask<'_>, choice: &mut Choice) {
        for _ in 0..DRAWS_MOST {
            if !self.on || !self.is_asked_for(self.key(choice)) {
                break;
            }
            choices.redraw(ask, &self.pools[usize::from(choice.endpoint)], choice);
        }
    }

    /// A slot asks for something.
    pub(super) fn began(&mut self, slot: u32, choice: &Choice) {
        self.asked[slot as usize] = self.key(choice);
    }

    /// A slot has got it.
    pub(super) fn ended(&mut self, slot: u32) {
        self.asked[slot as usize] = NONE;
    }

    fn is_asked_for(&self, key: u64) -> bool {
        key != NONE && self.asked.contains(&key)
    }

    /// A number for the key (FNV-1a over what was drawn).
    fn key(&self, choice: &Choice) -> u64 {
        const BEGIN: u64 = 0xcbf2_9ce4_8422_2325;
        const TIMES: u64 = 0x0100_0000_01b3;
        let pools = &self.pools[usize::from(choice.endpoint)];
        if pools.is_empty() {
            return NONE;
        }
        let mut key = BEGIN;
        for &pool in pools {
            for part in [pool as u64, u64::from(choice.picks[pool])] {
                key = (key ^ part).wrapping_mul(TIMES);
            }
        }
        key.max(1)
    }
}
