//! The shape of latencies and their course, in words: one line each that has something to say.

use slowpath_diagnose::diagnosis::{
    Axis, ConstantFigures, EndpointFigures, OverRepeats, ShapeFigures,
};

use crate::quantity::{self, duration, percent};

/// Requests beyond the fences are told from this share on: of logarithms that are normal some
/// 0.7 % are.
const OUTLIERS_TOLD: f64 = 0.02;
/// The percentiles over repeats that are told; the report has all.
const OVER_REPEATS: [&str; 2] = ["p50", "p99"];

/// What is seen in the latencies of an endpoint.
pub(crate) fn shape(figures: &EndpointFigures) -> Vec<String> {
    let shape = &figures.shape;
    let mut told = Vec::new();
    told.extend(over_repeats(&figures.over_repeats));
    told.extend(mode_counts(shape));
    told.extend(constants(shape));
    told.extend(comb(shape));
    told.extend(stalls(shape));
    told.extend(steps(shape));
    told.extend(outliers(figures));
    told
}

fn over_repeats(all: &[OverRepeats]) -> Option<String> {
    let told = all
        .iter()
        .filter(|of| OVER_REPEATS.contains(&of.metric.as_str()));
    let one = |of: &OverRepeats| {
        let (least, most) = (of.least_ms, of.most_ms);
        format!("{} {}", of.metric, quantity::range(least, most))
    };
    let confidence = percent(all.first()?.confidence);
    let told: Vec<String> = told.map(one).collect();
    (!told.is_empty()).then(|| {
        format!(
            "from repeat to repeat: {}; the median of further ones lies in there with {confidence}",
            told.join(", ")
        )
    })
}

fn mode_counts(shape: &ShapeFigures) -> Option<String> {
    let [fewest, most] = shape.mode_counts?;
    (fewest != most).then(|| {
        format!("two ways to count modes differ: {fewest} to {most}; the next run decides")
    })
}

fn constants(shape: &ShapeFigures) -> Vec<String> {
    let one = |of: &ConstantFigures| {
        let (mode, added) = (duration(of.mode_ms), duration(of.added_ms));
        let made_of = of.made_of.join(", or ");
        format!("the mode at {mode} is {added} above the fastest: {made_of}?")
    };
    shape.constants.iter().map(one).collect()
}

fn comb(shape: &ShapeFigures) -> Option<String> {
    let comb = shape.comb.as_ref()?;
    let teeth: Vec<String> = comb
        .teeth
        .iter()
        .map(|[steps, share]| format!("{steps} ({})", percent(*share)))
        .collect();
    let made_of = match comb.made_of.as_slice() {
        [] => String::new(),
        words => format!("; the step may be {}", words.join(", or ")),
    };
    Some(format!(
        "latencies stand on a comb: {} + n x {}, n = {}{made_of}",
        duration(comb.offset_ms),
        duration(comb.step_ms),
        teeth.join(", ")
    ))
}

fn stalls(shape: &ShapeFigures) -> Option<String> {
    let stalls = shape.stalls.as_ref()?;
    Some(format!(
        "slow requests come every {} (±{}, {}, {} missed, {})",
        duration(stalls.period_ms),
        duration(stalls.jitter_ms),
        quantity::plural(u64::from(stalls.stalls), "stall"),
        stalls.missed,
        quantity::p_value(stalls.p)
    ))
}

fn steps(shape: &ShapeFigures) -> Vec<String> {
    let mut told: Vec<String> = shape
        .steps
        .iter()
        .map(|step| {
            format!(
                "in repeat {} the median went from {} to {} for good, {:.1} s and {} requests \
                 after the load began ({})",
                step.repeat + 1,
                duration(step.before_ms),
                duration(step.behind_ms),
                step.after_s,
                quantity::count(step.after_requests),
                quantity::p_value(step.p)
            )
        })
        .collect();
    told.extend(shape.steps_follow.as_ref().map(|axis| {
        let places = match axis {
            Axis::Requests => "the number of requests places",
            Axis::Time => "the time since the load began places",
        };
        format!("{places} the step alike in all repeats")
    }));
    told
}

fn outliers(figures: &EndpointFigures) -> Option<String> {
    let of = figures.shape.outliers?;
    let all = figures.completed.max(1) as f64;
    let high = of.high_mild + of.high_severe;
    let low = of.low_mild + of.low_severe;
    ((high + low) as f64 / all >= OUTLIERS_TOLD).then(|| {
        let share = |count: u64| quantity::percent_fine(count as f64 / all);
        format!(
            "beyond Tukey's fences on a logarithmic scale: high {} mild, {} severe; low {} mild, \
             {} severe",
            share(of.high_mild),
            share(of.high_severe),
            share(of.low_mild),
            share(of.low_severe)
        )
    })
}
