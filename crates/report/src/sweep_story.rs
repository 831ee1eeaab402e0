//! The words of a sweep, which all its views share.

use slowpath_experiment::sweep::{
    Dimension, Knee, Level, Scalability, SplitLevel, Sweep, Threshold, ThresholdKind,
};

use crate::quantity::{self, Scale};

mod course;
mod tables;

use course::{errors_per_s, first_requests, little, ramps, storms, unfair};
pub(crate) use tables::{Table, answers, connections};

/// Levels at which more fails are not asked for a knee.
const SERVING: f64 = 0.01;
/// Fewer levels have no knee.
const KNEE_LEVELS: usize = 3;
/// Throughput within a tenth of the most does not grow.
const FLAT: f64 = 0.9;
/// Other processes that use this share of the host's CPUs are in every figure: they take time
/// slices from the target, and share its caches.
const NEIGHBOURS_FROM: f64 = 0.1;

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
        said.extend(analysis.bend_at.map(bend));
    }
    said.extend(analysis.usl.as_ref().map(law));
    if let (Dimension::Connections, Some(why)) = (dimension, &analysis.usl_refused) {
        said.push(format!("no scalability law (USL): {why}"));
    }
    said.extend(cost(sweep));
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
    said.extend(first_requests(sweep));
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

fn bend(at: f64) -> String {
    format!(
        "throughput bends most at {} (Kneedle: a marker among the levels that were measured)",
        level(Dimension::Connections, at)
    )
}

fn no_knee(sweep: &Sweep) -> String {
    let counting = sweep.analysis.levels.iter().filter(|l| l.counts());
    let serving: Vec<&Level> = counting.filter(|l| l.failing() < SERVING).collect();
    let (Some(first), Some(last)) = (serving.first(), serving.last()) else {
        return "no knee: no level says anything about the target".to_owned();
    };
    let most = serving.iter().map(|l| l.per_s.median).fold(0.0, f64::max);
    let why = if serving.len() < KNEE_LEVELS {
        "too few levels count"
    } else if first.per_s.median >= FLAT * most {
        "throughput is at its most from the lowest level on"
    } else {
        "no plateau was reached that is beyond the scatter"
    };
    format!(
        "no knee is seen from {} to {}: {why}",
        level(Dimension::Connections, first.level),
        at(Dimension::Connections, last.level)
    )
}

fn law(found: &Scalability) -> String {
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
        _ => "no peak, for no decline was measured".to_owned(),
    };
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
        level(Dimension::Connections, found.largest),
        quantity::percent(law.error),
    )
}

/// What a byte costs, where sizes were varied.
fn cost(sweep: &Sweep) -> Option<String> {
    if sweep.plan.grid.dimension != Dimension::Size {
        return None;
    }
    let Some(line) = &sweep.analysis.cost else {
        let why = sweep.analysis.cost_refused.as_deref()?;
        return Some(format!("no cost for each byte: {why}"));
    };
    let range = |(low, high): (f64, f64)| {
        format!("[{}, {}]", quantity::number(low), quantity::number(high))
    };
    let (low, high) = line.per_mib_range_ms;
    let slope = format!(
        "{} ms for each MiB {}",
        quantity::number(line.per_mib_ms),
        range((low, high))
    );
    let said = if low > 0.0 {
        format!("and {slope} on top")
    } else {
        format!("and no growth with the size is seen ({slope})")
    };
    Some(format!(
        "p50 is {} ms {} without a byte, {said}: a line through the medians of {} levels, off by {}",
        quantity::number(line.base_ms),
        range(line.base_range_ms),
        line.levels,
        quantity::percent(line.error),
    ))
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
        ThresholdKind::Collapse => {
            "throughput collapses to less than half of what fewer connections had, in every window,"
        }
        ThresholdKind::FallingBehind => {
            "the target does not keep up (less than 95 % answered in time)"
        }
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

fn limits(dimension: Dimension, levels: &[Level]) -> Option<String> {
    let limited = levels.iter().filter(|l| l.client_limited > 0);
    let limited: Vec<String> = limited
        .map(|l| {
            let own = level(dimension, l.level);
            format!("{own} ({} of {} windows)", l.client_limited, l.windows)
        })
        .collect();
    (!limited.is_empty()).then(|| {
        format!(
            "client-limited at {}: there slowpath could not send in time, for its own work or for \
             want of a CPU, and those windows are in no fit",
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
    let first = named.first()?;
    Some(format!(
        "p99 is not said at {}: {reason} (a window at {first}); give --duration more",
        named.join(", ")
    ))
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
    let counts = || sweep.analysis.levels.iter().map(|l| l.windows);
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    if most <= 1 {
        return "figures are of one window each, so nothing is known of how they scatter from \
                window to window; give --repeats"
            .to_owned();
    }
    let sure = |windows: u32| {
        quantity::percent_fine(slowpath_core::stats::spread::confidence(windows as usize))
    };
    let (of, how_sure) = if fewest == most {
        (quantity::plural(u64::from(most), "window"), sure(most))
    } else {
        let some = format!("{fewest} to {most} windows");
        (some, format!("{} to {}", sure(fewest), sure(most)))
    };
    format!(
        "figures are medians of {of}, brackets their extremes ({how_sure} sure to hold the true \
         median)"
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
