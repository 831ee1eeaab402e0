//! The visits to a station: which requests may share its places.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::stations::Visit;
use slowpath_core::sample::NONE;

use super::is_slow;
use crate::case::{Case, EndpointCase};

/// So many requests are enough to estimate the number of places, and are judged in a moment.
const VISITS_MOST: usize = 4_000;
/// Requests before the first slow one that are examined: they may still be there when it comes.
const VISITS_BEFORE: usize = 1_000;
/// With more endpoints than that, not every set of them is tried, but each alone, with one other, and
/// all.
const ENDPOINTS_ALL_SETS: usize = 4;

/// The sets of endpoints that may share a station with one.
pub(super) fn sets(endpoints: usize, own: usize) -> Vec<Vec<usize>> {
    if endpoints <= ENDPOINTS_ALL_SETS {
        let all = (1_usize..1 << endpoints).filter(|bits| bits & (1 << own) != 0);
        return all
            .map(|bits| (0..endpoints).filter(|e| bits & (1 << e) != 0).collect())
            .collect();
    }
    let mut sets: Vec<Vec<usize>> = (0..endpoints)
        .map(|other| BTreeSet::from([own, other]).into_iter().collect())
        .collect();
    sets.push((0..endpoints).collect());
    sets
}

/// The requests of a set of endpoints in order of sending, around the slow ones of one of them.
pub(super) fn visits(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    set: &[usize],
) -> (Vec<u32>, Vec<Visit>) {
    let mut all: Vec<(u64, u32, Visit)> = Vec::new();
    let first_slow = endpoint.split.slow.first().copied().unwrap_or(0);
    for &place in set {
        let own = &case.endpoints[place];
        // Positions are in order of time: those from a little before the first slow one are enough.
        let around = |of: &[u32]| {
            let first = of
                .partition_point(|&position| position < first_slow)
                .saturating_sub(VISITS_BEFORE);
            of[first..]
                .iter()
                .take(VISITS_MOST)
                .copied()
                .collect::<Vec<u32>>()
        };
        let all_of = [
            (&own.warmed_up, false),
            (&own.completed, true),
            (&own.failed, true),
        ];
        let positions = all_of.into_iter().flat_map(|(of, measured)| {
            around(of)
                .into_iter()
                .map(move |position| (position, measured))
        });
        for (position, measured) in positions {
            let sample = case.sample(position);
            let Some(sent) = sample.sent().filter(|_| sample.connection() != NONE) else {
                continue;
            };
            let slow = measured && own.index == endpoint.index && is_slow(endpoint, position);
            let visit = Visit {
                arrival: sent.get(),
                done: sample.done().get(),
                class: own.index,
                line: u32::from(sample.repeat()),
                slow,
                measured,
            };
            all.push((visit.arrival, position, visit));
        }
    }
    // Of those that were sent before, the ones that are there when the measured ones begin to come hold places.
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    for (arrival, _, visit) in all.iter().filter(|(_, _, visit)| visit.measured) {
        let own = first.entry(visit.line).or_insert(*arrival);
        *own = (*own).min(*arrival);
    }
    all.retain(|(_, _, visit)| {
        let is_there = first.get(&visit.line).is_some_and(|&at| visit.done > at);
        visit.measured || is_there
    });
    all.sort_unstable_by_key(|&(at, position, visit)| (at, visit.done, visit.class, position));
    all.truncate(VISITS_MOST);
    all.iter()
        .map(|&(_, position, visit)| (position, visit))
        .unzip()
}
