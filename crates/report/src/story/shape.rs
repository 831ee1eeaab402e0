//! The shape of latencies and their course, in words: one line each that has something to say.

use std::fmt::Write as _;

use slowpath_core::stats::effective::BURSTY_DEFF;
use slowpath_diagnose::diagnosis::{
    Axis, ConstantFigures, EndpointFigures, Mode, OverRepeats, Percentile, Percentiles,
    RepeatFigures, Settling, ShapeFigures,
};

use crate::quantity::{self, duration, percent};

/// Requests beyond the fences are reported from this share on: of logarithms that are normal some
/// 0.7 % are.
const OUTLIERS_TOLD: f64 = 0.02;
/// The percentiles over repeats that are reported; the report has all.
const OVER_REPEATS: [&str; 2] = ["p50", "p99"];

/// What is seen in the latencies of an endpoint.
pub(crate) fn shape(figures: &EndpointFigures) -> Vec<String> {
    let shape = &figures.shape;
    let mut told = Vec::new();
    told.extend(over_repeats(figures));
    told.extend(within(figures));
    told.extend(weights(figures));
    told.extend(mode_counts(shape));
    told.extend(constants(shape));
    told.extend(comb(shape));
    told.extend(stalls(shape));
    told.extend(swing(shape));
    told.extend(steps(shape));
    told.extend(outliers(figures));
    told.extend(bursts(&figures.latency_ms));
    told
}

fn over_repeats(figures: &EndpointFigures) -> Option<String> {
    let told = OVER_REPEATS.map(|name| figures.over_repeats.iter().find(|of| of.metric == name));
    let told: Vec<&OverRepeats> = told.into_iter().flatten().collect();
    let one = |of: &&OverRepeats| {
        format!(
            "{} {} (with {})",
            of.metric,
            quantity::range(of.least_ms, of.most_ms),
            percent(of.confidence)
        )
    };
    let all: Vec<String> = told.iter().map(one).collect();
    (!all.is_empty()).then(|| {
        format!(
            "from repeat to repeat, where the true median lies: {}",
            all.join(", ")
        )
    })
}

/// What brackets mean in a run of several repeats, and how well these repeats know their own.
fn within(figures: &EndpointFigures) -> Option<String> {
    let latency = &figures.latency_ms;
    let named = [("p50", &latency.p50), ("p99", &latency.p99)];
    let one = |(name, of): (&str, &Percentile)| {
        super::over(figures, name)?;
        Some(format!("{name} {}", super::percentile(of))).filter(|_| of.low.is_some())
    };
    let told: Vec<String> = named.into_iter().filter_map(one).collect();
    (!told.is_empty()).then(|| {
        format!(
            "brackets are of what repeats give (95 %); within these repeats: {}",
            told.join(", ")
        )
    })
}

/// More modes than this are summed up in words; the pictures and `report.json` have each.
const MODES_TOLD: usize = 4;

/// `modes 3 ms (97.9 %), 1.4 s (2.1 %)`; `None` when the modes are not known.
pub(crate) fn modes(figures: &EndpointFigures) -> Option<String> {
    let modes = &figures.modes;
    let one = |mode: &Mode| {
        format!(
            "{} ({})",
            duration(mode.at_ms),
            quantity::percent_fine(mode.weight)
        )
    };
    match modes.as_slice() {
        [] => None,
        [only] => Some(format!("mode {}", one(only))),
        [fastest, .., slowest] if modes.len() > MODES_TOLD => {
            let heaviest = modes.iter().max_by(|a, b| a.weight.total_cmp(&b.weight))?;
            Some(format!(
                "{} modes, the fastest {}, the heaviest {}, the slowest {}",
                modes.len(),
                one(fastest),
                one(heaviest),
                one(slowest)
            ))
        }
        few => {
            let all: Vec<String> = few.iter().map(one).collect();
            Some(format!("modes {}", all.join(", ")))
        }
    }
}

/// How well the weights of several modes are known; of many that of the slowest, which is what a
/// tail is made of.
fn weights(figures: &EndpointFigures) -> Option<String> {
    let one = |mode: &Mode| {
        let (low, high) = (mode.share_low?, mode.share_high?);
        let fine = |share: f64| quantity::percent_fine(share);
        let mut text = format!(
            "{} {} [{}, {}]",
            duration(mode.at_ms),
            fine(mode.weight),
            fine(low).trim_end_matches(" %"),
            fine(high).trim_end_matches(" %")
        );
        if mode.is_satellite {
            text += ", a satellite";
        }
        if let Some(deff) = mode.deff.filter(|&deff| deff > BURSTY_DEFF) {
            let _ = write!(
                text,
                ", in bursts (design effect {})",
                quantity::number(deff)
            );
        }
        Some(text)
    };
    let modes = figures.modes.as_slice();
    if let (true, Some(slowest)) = (modes.len() > MODES_TOLD, modes.last()) {
        return Some(format!("weight of the slowest mode: {}", one(slowest)?));
    }
    let told: Option<Vec<String>> = modes.iter().map(one).collect();
    let told = told.filter(|told| told.len() > 1)?;
    Some(format!("weights of the modes: {}", told.join("; ")))
}

/// What percentiles rest on: rank, effective sample size, design effect.
pub(crate) fn effective(of: &Percentiles) -> Option<String> {
    let one = |(name, percentile): (&str, &Percentile)| {
        Some(format!(
            "{name} is rank {} of {}, which are worth {} independent ones (design effect {})",
            quantity::count(percentile.rank?),
            quantity::count(percentile.n?),
            quantity::number(percentile.n_eff?),
            quantity::number(percentile.deff?)
        ))
    };
    let told: Vec<String> = super::percentiles(of).into_iter().filter_map(one).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// The same of percentiles whose requests come in bursts, of which an interval by their number
/// would be far too narrow.
fn bursts(of: &Percentiles) -> Option<String> {
    let all = super::percentiles(of).into_iter();
    let worst = all
        .filter_map(|(name, percentile)| Some((name, percentile, percentile.deff?)))
        .filter(|(_, _, deff)| *deff > BURSTY_DEFF)
        .max_by(|a, b| a.2.total_cmp(&b.2))?;
    let (name, percentile, deff) = worst;
    Some(format!(
        "slow requests come in bursts: for {name}, {} count as {} (design effect {})",
        quantity::plural(percentile.n?, "request"),
        quantity::number(percentile.n_eff?),
        quantity::number(deff)
    ))
}

fn mode_counts(shape: &ShapeFigures) -> Option<String> {
    let [fewest, most] = shape.mode_counts?;
    (fewest != most).then(|| {
        format!("two ways to count modes differ: {fewest} to {most} modes; more runs decide")
    })
}

fn constants(shape: &ShapeFigures) -> Vec<String> {
    let one = |of: &ConstantFigures| {
        let (mode, added) = (duration(of.mode_ms), duration(of.added_ms));
        let fastest = duration(of.mode_ms - of.added_ms);
        let made_of = of.made_of.join(", or ");
        format!("{mode} = {added} ({made_of}?) + {fastest} of the fastest mode")
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
    let mut text = format!(
        "slow requests come every {} (±{}, {}, {} missed, {})",
        duration(stalls.period_ms),
        duration(stalls.jitter_ms),
        quantity::plural(u64::from(stalls.stalls), "stall"),
        stalls.missed,
        quantity::p_value(stalls.p)
    );
    if !stalls.kept.is_empty() {
        let held = stalls.kept.iter().filter(|kept| kept.holds).count();
        let others = quantity::plural(stalls.kept.len() as u64, "other repeat");
        let _ = write!(text, "; they came when due in {held} of {others}");
    }
    if let Some(wall) = &stalls.wall {
        let every = duration(wall.every_s * 1e3);
        let place = duration(wall.after_s * 1e3);
        let _ = write!(
            text,
            "; aligned to the clock on the wall: {place} after each full {every} (UTC, {}, {})",
            quantity::plural(u64::from(wall.repeats), "repeat"),
            quantity::p_value(wall.p)
        );
    }
    Some(text)
}

fn swing(shape: &ShapeFigures) -> Option<String> {
    let swing = shape.swing.as_ref()?;
    Some(format!(
        "the median rises and falls every {} (a sine explains {} of its variance, {})",
        duration(swing.period_s * 1e3),
        percent(swing.power),
        quantity::p_value(swing.p)
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

/// How the latency settled, if there is something to say; with several repeats, in which of them.
pub(crate) fn settling(figures: &EndpointFigures) -> Option<String> {
    let text = match figures.settling? {
        Settling::None | Settling::FastRamp => return unlike(figures),
        Settling::NoRamp => "it never got going: most of what was asked was not served",
        Settling::SlowRamp => "settled only within the first half: warm up for longer",
        Settling::NotSettled => "never settled: the figures depend on how long one measures",
    };
    let repeats = &figures.by_repeat;
    let alike = repeats.iter().filter(|r| r.settling == figures.settling);
    let alike = alike.count();
    Some(if repeats.len() > 1 && alike < repeats.len() {
        format!("{text} (so in {alike} of {} repeats)", repeats.len())
    } else {
        text.to_owned()
    })
}

/// Repeats that did not settle though most did.
fn unlike(figures: &EndpointFigures) -> Option<String> {
    let is_unlike = |of: &&RepeatFigures| {
        matches!(of.settling, Some(Settling::SlowRamp | Settling::NotSettled))
    };
    let unlike: Vec<String> = figures
        .by_repeat
        .iter()
        .filter(is_unlike)
        .map(|of| (of.repeat + 1).to_string())
        .collect();
    (!unlike.is_empty()).then(|| {
        let word = if unlike.len() == 1 {
            "repeat"
        } else {
            "repeats"
        };
        format!(
            "{word} {} settled late or not at all, unlike the others",
            unlike.join(", ")
        )
    })
}
