//! The words of a sweep, which all its views share.

use slowpath_core::stats::settle::Ramp;
use slowpath_experiment::sweep::{
    Dimension, ErrorRate, Knee, Level, Scalability, SplitLevel, Sweep, Threshold, ThresholdKind,
};

use crate::quantity::{self, Scale};

mod tables;

pub(crate) use tables::{Table, answers, connections};

/// From this share of failures, and with so many dials for each request, a level is a storm of
/// reconnects: one request in ten fails, and one in ten dials.
const STORM: f64 = 0.1;
/// Other processes that use this share of the host's CPUs are in every figure: they take time
/// slices from the target, and share its caches.
const NEIGHBOURS_FROM: f64 = 0.1;
/// Classes of errors that are named for a level; the rest is in the JSON.
const ERRORS_NAMED: usize = 3;
/// A first request that takes this many times as long as later ones is worth a sentence; a dial
/// and a cold connection take a few times the usual anyhow.
const FIRST_SLOW: f64 = 10.0;

/// A level as people say it: `64`, `500/s`, `16 KiB`.
pub(crate) fn level(dimension: Dimension, value: f64) -> String {
    match dimension {
        Dimension::Connections => quantity::count(value.round() as u64),
        Dimension::Rate => format!("{}/s", quantity::number(value)),
        Dimension::Size => quantity::bytes(value.round() as u64),
    }
}

/// A level in a sentence: `64 connections`.
fn at(dimension: Dimension, value: f64) -> String {
    match dimension {
        Dimension::Connections => quantity::plural(value.round() as u64, "connection"),
        Dimension::Rate | Dimension::Size => level(dimension, value),
    }
}

/// What the sweep found, a sentence each, the most important first.
pub(crate) fn sentences(sweep: &Sweep) -> Vec<String> {
    let dimension = sweep.plan.grid.dimension;
    let analysis = &sweep.analysis;
    let mut said = Vec::new();
    if dimension == Dimension::Connections {
        said.push(analysis.knee.as_ref().map_or_else(|| no_knee(sweep), knee));
    }
    said.extend(analysis.usl.as_ref().map(|usl| law(usl, sweep)));
    if let (Dimension::Connections, Some(why)) = (dimension, &analysis.usl_refused) {
        said.push(format!("no scalability law (USL): {why}"));
    }
    said.extend(
        analysis
            .thresholds
            .iter()
            .map(|(kind, found)| threshold(dimension, *kind, found)),
    );
    said.extend(analysis.split.iter().map(|split| modes(dimension, split)));
    said.extend(storms(dimension, &analysis.levels));
    said.extend(little(dimension, &analysis.levels));
    said.extend(unfair(dimension, &analysis.levels));
    said.extend(first_requests(dimension, &analysis.levels));
    said.extend(ramps(dimension, &analysis.levels));
    said.extend(limits(dimension, &analysis.levels));
    said.extend(causes(dimension, &analysis.levels));
    said.extend(refused(dimension, &analysis.levels));
    said.extend(disturbed(dimension, &analysis.levels));
    said.extend(neighbours(sweep));
    said
}

fn knee(knee: &Knee) -> String {
    format!(
        "knee at {} connections [{}, {}]: below, connections are scarce, above, the target is; at \
         most {} req/s (at {}), nine tenths of it from {} on",
        quantity::number(knee.at),
        quantity::number(knee.low),
        quantity::number(knee.high),
        quantity::number(knee.plateau_per_s),
        level(Dimension::Connections, knee.plateau_level),
        level(Dimension::Connections, knee.reached_at),
    )
}

fn no_knee(sweep: &Sweep) -> String {
    let counting = sweep.analysis.levels.iter().filter(|l| l.counts());
    match counting.map(|l| l.level).reduce(f64::max) {
        Some(most) => {
            format!(
                "no knee is seen up to {}: throughput grows to the end, or not at all",
                at(Dimension::Connections, most)
            )
        }
        None => "no knee: no level says anything about the target".to_owned(),
    }
}

fn law(found: &Scalability, sweep: &Sweep) -> String {
    let law = &found.law;
    let peak = match (law.peak_at, law.peak) {
        (Some(at), Some(peak)) => {
            let range = found.peak_at.map_or(String::new(), |(low, high)| {
                format!(" [{}, {}]", quantity::number(low), quantity::number(high))
            });
            format!(
                "peak {} req/s at {}{range} connections",
                quantity::number(peak),
                quantity::number(at)
            )
        }
        _ => "no peak near the measured range".to_owned(),
    };
    let largest = sweep
        .analysis
        .levels
        .iter()
        .map(|l| l.level)
        .fold(0.0, f64::max);
    format!(
        "scalability (USL): sigma {} [{}, {}], kappa {} [{}, {}], {peak}; {} of linear at {}; the \
         fit is off by {}",
        small(law.sigma),
        small(found.sigma.0),
        small(found.sigma.1),
        small(law.kappa),
        small(found.kappa.0),
        small(found.kappa.1),
        quantity::percent(found.efficiency_at_most),
        level(Dimension::Connections, largest),
        quantity::percent(law.error),
    )
}

/// A coefficient: two significant digits, as a power of ten where it is tiny.
fn small(value: f64) -> String {
    if value <= 0.0 {
        "0".to_owned()
    } else if value < 1e-3 {
        format!("{value:.1e}")
    } else {
        quantity::number(value)
    }
}

fn threshold(dimension: Dimension, kind: ThresholdKind, found: &Threshold) -> String {
    let what = match kind {
        ThresholdKind::Errors => "requests fail (1 % and more)",
        ThresholdKind::Collapse => "throughput collapses to less than half",
        ThresholdKind::FallingBehind => "the target falls behind (less than 95 % answered in time)",
    };
    let low = if found.low > 0.0 {
        level(dimension, found.low)
    } else {
        "-".to_owned()
    };
    let high = found
        .high
        .map_or("-".to_owned(), |high| level(dimension, high));
    let last = found.last_without.map_or(String::new(), |last| {
        format!("not up to {}, ", level(dimension, last))
    });
    format!(
        "{what} from about {} on [{low}, {high}]: {last}first at {}",
        at(dimension, found.at),
        level(dimension, found.first_with),
    )
}

fn modes(dimension: Dimension, split: &SplitLevel) -> String {
    let all: usize = split.modes.iter().map(|mode| mode.runs.len()).sum();
    let modes: Vec<String> = split
        .modes
        .iter()
        .map(|mode| {
            format!(
                "{} req/s in {} of {all} ({} [{}, {}])",
                quantity::number(mode.per_s),
                mode.runs.len(),
                quantity::percent(mode.share),
                quantity::percent(mode.low),
                quantity::percent(mode.high),
            )
        })
        .collect();
    let plan = &split.comparison;
    let runs = plan
        .runs_each
        .map_or("more than 100".to_owned(), |runs| runs.to_string());
    format!(
        "at {} runs fall into modes: {}; to see the slower ones go from {} to {} takes {runs} runs \
         of each version",
        at(dimension, split.level),
        modes.join(", "),
        quantity::percent(plan.from),
        quantity::percent(plan.to),
    )
}

fn storms(dimension: Dimension, levels: &[Level]) -> Vec<String> {
    let failing = levels
        .iter()
        .filter(|l| l.errors.iter().any(|e| e.count > 0));
    failing
        .map(|l| {
            let named: Vec<String> = l.errors.iter().take(ERRORS_NAMED).map(error).collect();
            let storm = if l.failing() >= STORM && l.dials_per_request >= STORM {
                format!(
                    ": a reconnect storm, {} dials for each request",
                    quantity::number(l.dials_per_request)
                )
            } else {
                String::new()
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

fn errors_per_s(errors: &[ErrorRate]) -> String {
    let all: f64 = errors.iter().fold(0.0, |sum, e| sum + e.per_s);
    quantity::number(all)
}

fn little(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let worst = levels
        .iter()
        .filter(|l| l.little_violated > 0)
        .filter_map(|l| Some((l, l.waiting_share?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (l, share) = worst;
    let violated = levels
        .iter()
        .filter(|l| l.little_violated > 0)
        .map(|l| level(dimension, l.level));
    let figures = match (l.little_ms, l.mean_ms) {
        (Some(expected), Some(mean)) => format!(
            ": N/X is {}, the mean latency {}",
            quantity::duration(expected),
            quantity::duration(mean)
        ),
        _ => String::new(),
    };
    Some(format!(
        "Little's law does not hold at {}; at {} users wait only {} of their time for answers that \
         come{figures}",
        violated.collect::<Vec<_>>().join(", "),
        level(dimension, l.level),
        quantity::percent(share),
    ))
}

fn unfair(dimension: Dimension, levels: &[Level]) -> Option<String> {
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

fn first_requests(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let slow = levels.iter().filter_map(|l| {
        let (first, later) = (l.first_ms?, l.later_ms?);
        (first > FIRST_SLOW * later).then_some((l, first, later))
    });
    let (l, first, later) = slow.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "at {} the first request of a connection takes {}, later ones {}",
        at(dimension, l.level),
        quantity::duration(first),
        quantity::duration(later),
    ))
}

fn ramps(dimension: Dimension, levels: &[Level]) -> Vec<String> {
    let of = |wanted: Ramp| {
        let found = levels.iter().filter(|l| l.ramp == Some(wanted));
        found
            .map(|l| level(dimension, l.level))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let (slow, moving) = (of(Ramp::Slow), of(Ramp::NotSettled));
    let mut said = Vec::new();
    if !slow.is_empty() {
        said.push(format!(
            "slow ramp at {slow}: throughput is that after the ramp; give --duration more"
        ));
    }
    if !moving.is_empty() {
        said.push(format!(
            "not settled at {moving}: the figures depend on how long one measures; give --duration \
             more"
        ));
    }
    said
}

fn limits(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let limited = levels.iter().filter(|l| l.client_limited > 0);
    let limited: Vec<String> = limited.map(|l| level(dimension, l.level)).collect();
    (!limited.is_empty()).then(|| {
        format!(
            "client-limited at {}: there slowpath itself was the limit, and those windows are in no \
             fit",
            limited.join(", ")
        )
    })
}

/// The first cause of most windows of a level, levels with the same cause together.
fn causes(dimension: Dimension, levels: &[Level]) -> Vec<String> {
    let mut all: Vec<(&str, Vec<String>)> = Vec::new();
    for l in levels {
        let named = l
            .causes
            .iter()
            .filter(|(_, windows)| 2 * windows > l.windows);
        for (cause, _) in named {
            let own = level(dimension, l.level);
            match all.iter_mut().find(|(name, _)| name == cause) {
                Some((_, found)) => found.push(own),
                None => all.push((cause, vec![own])),
            }
        }
    }
    all.iter()
        .map(|(cause, at)| format!("{cause} is found at {}", at.join(", ")))
        .collect()
}

fn refused(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let mut unknown = levels.iter().filter(|l| l.p99_ms.value.is_none());
    let named: Vec<String> = unknown.clone().map(|l| level(dimension, l.level)).collect();
    let reason = unknown.find_map(|l| l.p99_ms.reason.as_deref())?;
    Some(format!("p99 is not said at {}: {reason}", named.join(", ")))
}

/// What was measured, in a line.
pub(crate) fn conditions(sweep: &Sweep) -> String {
    let plan = &sweep.plan;
    let ms = |ns: u64| {
        let ms = ns as f64 / 1e6;
        Scale::of(ms).show(ms)
    };
    let added = match sweep.refinements.len() {
        0 => String::new(),
        n => format!(", {n} of them added where it changes most"),
    };
    format!(
        "{} of {} after {} of warm-up at {} levels{added}, in random order (seed {}), against {}",
        quantity::plural(sweep.windows.len() as u64, "window"),
        ms(plan.window_ns),
        ms(plan.warmup_ns),
        sweep.analysis.levels.len(),
        plan.seed,
        sweep.target,
    )
}

/// How sure the brackets are.
pub(crate) fn brackets(sweep: &Sweep) -> String {
    let windows = sweep.plan.repeats;
    let confidence = slowpath_core::stats::spread::confidence(windows as usize);
    format!(
        "figures are medians of {}, brackets their extremes ({} sure to hold the true median)",
        quantity::plural(u64::from(windows), "window"),
        quantity::percent_fine(confidence),
    )
}

fn disturbed(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let found = levels.iter().filter(|l| l.disturbed > 0);
    let count: u32 = found.clone().map(|l| l.disturbed).sum();
    let named: Vec<String> = found.map(|l| level(dimension, l.level)).collect();
    (count > 0).then(|| {
        format!(
            "{} left out at {}: other processes took half a CPU more than beside the fastest of the \
             level, and target or slowpath waited for it",
            quantity::plural(u64::from(count), "window"),
            named.join(", "),
        )
    })
}

/// Other processes on the host, where they matter.
fn neighbours(sweep: &Sweep) -> Option<String> {
    let mut used: Vec<f64> = sweep.windows.iter().filter_map(|w| w.others_cpu).collect();
    used.sort_unstable_by(f64::total_cmp);
    let (median, most) = (*used.get(used.len() / 2)?, *used.last()?);
    (median >= NEIGHBOURS_FROM * f64::from(sweep.cpus)).then(|| {
        format!(
            "other processes used {} of {} CPUs in the median window, {} in the worst: small \
             differences are theirs",
            quantity::number(median),
            sweep.cpus,
            quantity::number(most),
        )
    })
}
