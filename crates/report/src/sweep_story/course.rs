//! What failed, hung, was unfair, or went on moving at the levels of a sweep.

use slowpath_core::stats::settle::Ramp;
use slowpath_experiment::sweep::{Dimension, ErrorRate, Level, SLACK, Sweep, Window};

use super::{at, level};
use crate::quantity;

/// From this share of failures, and with so many dials for each request, a level is a storm of
/// reconnects: one request in ten fails, and one in ten dials.
const STORM: f64 = 0.1;
/// Classes of errors that are named for a level; the rest is in the JSON.
const ERRORS_NAMED: usize = 3;
/// A first request that takes this many times as long as later ones is worth a sentence; a dial
/// and a cold connection take a few times the usual anyhow.
const FIRST_SLOW: f64 = 10.0;

pub(super) fn storms(dimension: Dimension, levels: &[Level]) -> Vec<String> {
    let failing = levels
        .iter()
        .filter(|l| l.errors.iter().any(|e| e.count > 0));
    failing
        .map(|l| {
            let named: Vec<String> = l.errors.iter().take(ERRORS_NAMED).map(error).collect();
            let dials = quantity::number(l.dials_per_request);
            let storm = if l.dials_per_request < STORM {
                String::new()
            } else if l.failing() < STORM {
                format!(", {dials} dials for each request")
            } else {
                format!(": a reconnect storm, {dials} dials for each request")
            };
            format!(
                "at {} {} errors/s ({} of offered){storm}: {}",
                at(dimension, l.level),
                errors_per_s(&l.errors),
                quantity::percent(l.failing()),
                named.join(", "),
            )
        })
        .collect()
}

/// `reset in first-byte (ECONNRESET) 8,700/s`.
fn error(e: &ErrorRate) -> String {
    let detail = match (&e.errno, e.status) {
        (Some(errno), _) => format!(" ({errno})"),
        (None, Some(status)) => format!(" ({status})"),
        (None, None) => String::new(),
    };
    format!(
        "{} in {}{detail} {}/s",
        e.class,
        e.phase,
        quantity::number(e.per_s)
    )
}

pub(super) fn errors_per_s(errors: &[ErrorRate]) -> String {
    let all: f64 = errors.iter().fold(0.0, |sum, e| sum + e.per_s);
    quantity::number(all)
}

pub(super) fn little(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let violated: Vec<&Level> = levels
        .iter()
        .filter(|l| 2 * l.little_violated > l.windows)
        .collect();
    let l = violated.iter().max_by(|a, b| {
        a.lost_share
            .unwrap_or(0.0)
            .total_cmp(&b.lost_share.unwrap_or(0.0))
    })?;
    let named: Vec<String> = violated.iter().map(|l| level(dimension, l.level)).collect();
    let figures = match (l.little_ms, l.mean_ms) {
        (Some(expected), Some(mean)) => format!(
            ": N/X is {}, the mean latency {}",
            quantity::duration(expected),
            quantity::duration(mean)
        ),
        _ => String::new(),
    };
    let lost = l.lost_share.unwrap_or(0.0);
    let why = if lost > SLACK {
        format!(
            "users spend {} of their time in requests that fail or hang",
            quantity::percent(lost)
        )
    } else {
        "users spend their time between requests, where slowpath itself works or waits for a CPU"
            .to_owned()
    };
    Some(format!(
        "Little's law does not hold at {}; at {} {why}{figures}",
        named.join(", "),
        level(dimension, l.level),
    ))
}

pub(super) fn unfair(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let worst = levels
        .iter()
        .filter(|l| l.unfair > 0)
        .filter_map(|l| Some((l, l.jain?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (l, jain) = worst;
    Some(format!(
        "at {} the work is shared unfairly: Jain's index {}, {} of the connections are served \
         nothing",
        at(dimension, l.level),
        quantity::number(jain),
        quantity::percent(l.never_served.unwrap_or_default()),
    ))
}

/// First requests that are slow in every window of a level that counts, and in more than one.
pub(super) fn first_requests(sweep: &Sweep) -> Option<String> {
    let dimension = sweep.plan.grid.dimension;
    let is_slow = |w: &Window| {
        let first = w.first_request?;
        Some(first.first_ms > FIRST_SLOW * first.later_ms?)
    };
    let always = |l: &Level| {
        let own = sweep
            .windows
            .iter()
            .filter(|w| w.level.total_cmp(&l.level).is_eq());
        own.filter(|w| w.counts()).all(|w| is_slow(w) == Some(true))
    };
    let slow = sweep.analysis.levels.iter().filter_map(|l| {
        let figures = (l, l.first_ms?, l.later_ms?);
        (l.counts() && l.windows > 1 && always(l)).then_some(figures)
    });
    let (l, first, later) = slow.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "at {} the first request of a connection takes {}, dialling among all the others included; \
         later ones {}",
        at(dimension, l.level),
        quantity::duration(first),
        quantity::duration(later),
    ))
}

pub(super) fn ramps(dimension: Dimension, levels: &[Level]) -> Vec<String> {
    let of = |wanted: Ramp| {
        let found = levels
            .iter()
            .filter(|l| l.windows > 1 && l.ramp == Some(wanted));
        found
            .map(|l| level(dimension, l.level))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (slow, moving) = (of(Ramp::Slow), of(Ramp::NotSettled));
    let mut said = Vec::new();
    if !slow.is_empty() {
        said.push(format!(
            "slow ramp in all windows at {slow}: throughput is that after the ramp; give --duration more"
        ));
    }
    if !moving.is_empty() {
        said.push(format!(
            "not settled in any window at {moving}: the figures depend on how long one measures; give --duration \
             more"
        ));
    }
    said
}
