//! What a report shows of the inside: how much was joined, parts, trees, and one request in full.

mod tree;
mod waterfall;

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::median::median;
use slowpath_core::trace::Depth;

use super::inside::{EndpointJoin, Inside};
use super::join::{Joined, Unjoined as Why};
use super::shift::shift_of;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{EndpointInside, Phase, SegmentFigures, TraceView, Unjoined};
use crate::figures::{round, share};

/// What tracing showed in a run; `None` if it was not traced.
pub(crate) fn view(case: &Case<'_>) -> Option<TraceView> {
    let inside = case.inside()?;
    let stretches = &inside.trace().stretches;
    let traced: u64 = inside
        .index
        .blocks
        .iter()
        .flat_map(|block| case.windows.iter().map(|w| w.overlap_ns(block.span)))
        .sum();
    let joins = &inside.endpoints;
    let sum = |of: &dyn Fn(&EndpointJoin) -> u64| joins.iter().map(of).sum::<u64>();
    let unjoined: Vec<u64> = (0..Why::ALL.len())
        .map(|why| sum(&|join| join.unjoined[why]))
        .collect();
    let requests = sum(&EndpointJoin::requests);
    let outside = unjoined[Why::LeftOut as usize] + unjoined[Why::Outside as usize];
    let mut told: Vec<Unjoined> = Why::ALL
        .iter()
        .zip(&unjoined)
        .filter(|(_, n)| **n > 0)
        .map(|(why, &requests)| Unjoined {
            why: why.describe().to_owned(),
            requests,
        })
        .collect();
    told.sort_by_key(|unjoined| std::cmp::Reverse(unjoined.requests));
    let endpoints = case.endpoints.iter().zip(joins);
    Some(TraceView {
        depth: stretches
            .iter()
            .map(|s| s.depth)
            .max()
            .unwrap_or(Depth::Off),
        events: inside.trace().events.len() as u64,
        lost: stretches.iter().map(|s| s.lost).sum(),
        traced: share(traced as f64 / case.measured_ns().max(1) as f64),
        requests,
        within: requests - outside,
        joined: sum(&|join| join.joined.len() as u64),
        unjoined: told,
        shift: shift_of(case),
        endpoints: endpoints
            .map(|(e, join)| of_endpoint(case, inside, e, join))
            .collect(),
    })
}

fn of_endpoint(
    case: &Case<'_>,
    inside: &Inside<'_>,
    endpoint: &EndpointCase,
    join: &EndpointJoin,
) -> EndpointInside {
    EndpointInside {
        name: endpoint.name.clone(),
        pass: None,
        requests: join.requests(),
        joined: join.joined.len() as u64,
        segments: segments(endpoint, join),
        tail: tree::tail(inside, join),
        floor: tree::floor(inside, endpoint, join),
        slowest: waterfall::slowest(case, inside, join),
    }
}

/// Milliseconds, as reports have them.
fn millis(ns: f64) -> f64 {
    round(ns / MILLISECOND as f64, 1e6)
}

/// The shares of parts of which each takes so much longer, and all together `longer`. Where some are
/// shorter the others take more than it all does: they share it in proportion, so that shares are
/// never more than the whole.
fn shares(more: &[f64], longer: f64) -> Vec<f64> {
    let more = more.iter().map(|more| more.max(0.0));
    let whole = more.clone().sum::<f64>().max(longer);
    let part = |more| if whole > 0.0 { more / whole } else { 0.0 };
    more.map(part).collect()
}

fn segments(endpoint: &EndpointCase, join: &EndpointJoin) -> Vec<SegmentFigures> {
    let is_slow = |joined: &&Joined| endpoint.split.slow.binary_search(&joined.sample).is_ok();
    let (slow, fast): (Vec<&Joined>, Vec<&Joined>) = join.joined.iter().partition(is_slow);
    let mean = |of: &[&Joined], part: &dyn Fn(&Joined) -> u64| {
        let sum: u64 = of.iter().map(|joined| part(joined)).sum();
        sum as f64 / of.len().max(1) as f64
    };
    let longer = mean(&slow, &Joined::latency_ns) - mean(&fast, &Joined::latency_ns);
    let more = Phase::ALL.map(|segment| {
        let part = |joined: &Joined| joined.part_ns(segment);
        mean(&slow, &part) - mean(&fast, &part)
    });
    let shares = shares(&more, longer);
    let figures = |&segment: &Phase| {
        let part = |joined: &Joined| joined.part_ns(segment);
        let middle = |of: &[&Joined]| {
            let mut all: Vec<f64> = of.iter().map(|joined| part(joined) as f64).collect();
            median(&mut all).map(millis)
        };
        let known = !slow.is_empty() && !fast.is_empty() && longer > 0.0;
        SegmentFigures {
            segment,
            fast_ms: middle(&fast),
            slow_ms: middle(&slow),
            share: known.then(|| share(shares[segment as usize])),
        }
    };
    Phase::ALL.iter().map(figures).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_which_some_are_shorter_are_never_more_than_the_whole() {
        assert_eq!(shares(&[6.0, 2.0], 10.0), [0.6, 0.2]);
        let told = shares(&[9.0, 3.0, -2.0], 10.0);
        assert_eq!(told, [0.75, 0.25, 0.0]);
        assert_eq!(shares(&[-1.0, 0.0], -1.0), [0.0, 0.0]);
    }
}
