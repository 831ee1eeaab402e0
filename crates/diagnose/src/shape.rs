//! The shape of an endpoint's latencies: modes, outliers, combs, constants, periods, steps.
//!
//! These are observations, not causes: they say where to look and what a next run can check.

use slowpath_core::nanos::Span;
use slowpath_core::scenario::Timer;
use slowpath_core::spread::{Spread, both};
use slowpath_core::stats::comb::{Comb, comb};
use slowpath_core::stats::constants::{Declared, Explanation, explain};
use slowpath_core::stats::modes;
use slowpath_core::stats::step::{Aligned, Step, aligned, step};
use slowpath_core::stats::tukey::Classes;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Axis, CombFigures, ConstantFigures, Outliers, ShapeFigures, StepFigures};
use crate::figures::millis;
use crate::modes::Modes;
use crate::recurring;
use crate::validity::others_changed;

/// What a constant read from a mode is uncertain by, as a share of it: modes of timers are placed
/// to about 1 %, by the histogram and by what comes on top of a timer.
pub(crate) const CONSTANT_TOLERANCE: f64 = 0.02;
/// A mode adds a constant if it lies at least this many times as high as the fastest; closer ones
/// are variants of one path.
pub(crate) const ADDS_FROM: f64 = 1.5;
/// To what share of it the place of a step is known: a sixty-fourth of the run, and a start.
const STEP_RESOLUTION: f64 = 0.03;
/// The axes that may place a step.
const AXES: [Axis; 2] = [Axis::Time, Axis::Requests];

/// Everything that is seen in an endpoint's latencies, whose modes have been looked for.
pub(crate) fn shape(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    modes: &Modes,
    spread: &dyn Spread,
) -> ShapeFigures {
    let sorted = &endpoint.split.sorted_ns;
    let timers = &case.record.manifest.plan.scenario.timers;
    let ((steps, steps_follow), (stalls, swing)) = both(
        spread,
        || steps(case, endpoint),
        || {
            let stalls = || recurring::stalls(case, endpoint);
            both(spread, stalls, || recurring::swing(case, endpoint))
        },
    );
    ShapeFigures {
        mode_counts: modes.counts,
        dip_p: modes.dip_p,
        outliers: outliers(sorted),
        comb: comb(sorted).map(|found| comb_figures(&found, timers)),
        constants: constants(&modes.found, timers),
        stalls,
        swing,
        steps,
        steps_follow,
    }
}

fn outliers(sorted: &[u64]) -> Option<Outliers> {
    let classes = Classes::of(sorted)?;
    Some(Outliers {
        low_severe: classes.low_severe,
        low_mild: classes.low_mild,
        high_mild: classes.high_mild,
        high_severe: classes.high_severe,
    })
}

fn comb_figures(found: &Comb, timers: &[Timer]) -> CombFigures {
    let tolerance_ns = (CONSTANT_TOLERANCE * found.step_ns).max(2.0 * found.step_error_ns);
    CombFigures {
        step_ms: millis(found.step_ns),
        step_error_ms: millis(found.step_error_ns),
        offset_ms: millis(found.offset_ns),
        teeth: found
            .teeth
            .iter()
            .map(|tooth| [f64::from(tooth.steps), tooth.share])
            .collect(),
        p: found.p,
        made_of: made_of(found.step_ns, tolerance_ns, timers),
    }
}

fn constants(found: &[modes::Mode], timers: &[Timer]) -> Vec<ConstantFigures> {
    let Some((fastest, slower)) = found.split_first() else {
        return Vec::new();
    };
    let of = |mode_ns: f64| {
        let added_ns = mode_ns - fastest.at;
        let made_of = made_of(added_ns, CONSTANT_TOLERANCE * added_ns, timers);
        (!made_of.is_empty()).then(|| ConstantFigures {
            mode_ms: millis(mode_ns),
            added_ms: millis(added_ns),
            made_of,
        })
    };
    slower
        .iter()
        .filter(|mode| mode.at >= ADDS_FROM * fastest.at)
        .filter_map(|mode| of(mode.at))
        .collect()
}

/// What a constant may be made of, as far as that is more than chance.
fn made_of(constant_ns: f64, tolerance_ns: f64, timers: &[Timer]) -> Vec<String> {
    let declared: Vec<Declared<'_>> = timers
        .iter()
        .map(|timer| Declared {
            name: &timer.name,
            ns: timer.period_ns,
        })
        .collect();
    let found = explain(constant_ns, tolerance_ns, &declared);
    let remarkable = found.iter().filter(|one| one.is_remarkable());
    remarkable.map(in_words).collect()
}

fn in_words(explanation: &Explanation) -> String {
    let terms = explanation.terms.iter().map(|term| {
        let source = term.source.as_ref();
        let source = source.map_or(String::new(), |source| format!(" ({source})"));
        match term.times {
            1 => format!("{}{source}", term.name),
            times => format!("{times} x {}{source}", term.name),
        }
    });
    terms.collect::<Vec<_>>().join(" + ")
}

/// The step of each repeat that has one, and what places them alike. A change of level that others
/// on the host may have made, by what they used before and after it, is none; but they do not come
/// at the same place of each repeat.
fn steps(case: &Case<'_>, endpoint: &EndpointCase) -> (Vec<StepFigures>, Option<Axis>) {
    let repeats = endpoint.stretches(case.record);
    let found = repeats.filter_map(|(_, own)| {
        let latencies = &endpoint.latencies_ns[own.clone()];
        let positions = &endpoint.completed[own];
        let found = step(latencies, 0.5).filter(|step| step.is_abrupt)?;
        let is_of_others = is_of_others(case, positions, &found);
        Some((placed(case, positions, &found)?, is_of_others))
    });
    let mut found: Vec<(StepFigures, bool)> = found.collect();
    let times = found.iter().map(|(step, _)| step.after_s).collect();
    let requests = found.iter().map(|(step, _)| step.after_requests as f64);
    let places = [times, requests.collect()];
    let alike = aligned(&places, STEP_RESOLUTION).filter(Aligned::is_alike);
    if alike.is_none() || found.len() < case.windows.len() {
        found.retain(|(_, is_of_others)| !is_of_others);
    }
    let axis = alike.and_then(|alike| AXES.get(alike.axis?).copied());
    let steps: Vec<StepFigures> = found.into_iter().map(|(step, _)| step).collect();
    let axis = axis.filter(|_| !steps.is_empty());
    (steps, axis)
}

fn is_of_others(case: &Case<'_>, positions: &[u32], found: &Step) -> bool {
    let due = |position: Option<&u32>| position.map(|&i| case.sample(i).scheduled());
    let (begin, step, end) = (
        due(positions.first()),
        due(positions.get(found.at)),
        due(positions.last()),
    );
    let (Some(begin), Some(step), Some(end)) = (begin, step, end) else {
        return false;
    };
    let (before, behind) = (Span::new(begin, step), Span::new(step, end));
    others_changed(case, before, behind, found.ratio)
}

/// A step with its place in the repeat.
fn placed(case: &Case<'_>, positions: &[u32], found: &Step) -> Option<StepFigures> {
    let position = *positions.get(found.at)?;
    let sample = case.sample(position);
    let repeat = usize::from(sample.repeat());
    let load = case.record.manifest.repeats.get(repeat)?.load;
    let samples = &case.record.samples;
    let earlier = (0..position as usize).rev();
    let before = earlier.take_while(|&i| samples.at(i).repeat() == sample.repeat());
    Some(StepFigures {
        repeat: repeat as u32,
        after_s: millis(sample.scheduled().since(load.begin) as f64) / 1e3,
        after_requests: before.count() as u64,
        before_ms: millis(found.before),
        behind_ms: millis(found.after),
        p: found.p,
    })
}
