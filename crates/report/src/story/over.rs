//! Percentiles of latency with what the next run may give.

use slowpath_diagnose::diagnosis::{EndpointFigures, Percentile};

/// The 95 % interval over repeats of a percentile of latency, if several have it: that within the
/// run takes requests of different repeats for independent, and holds the truth a third of the
/// time.
pub(crate) fn over(figures: &EndpointFigures, name: &str) -> Option<(f64, f64)> {
    let of = figures.over_repeats.iter().find(|of| of.metric == name)?;
    of.low_ms.zip(of.high_ms)
}

/// A percentile of latency as [`super::percentile`], with its interval over repeats where there are
/// several, or else with a word that it is the one within them.
pub(crate) fn latency(figures: &EndpointFigures, name: &str, of: &Percentile) -> String {
    match (of.value, over(figures, name)) {
        (Some(value), Some((low, high))) => super::bracketed(value, low, high),
        _ if figures.by_repeat.len() > 1 && of.low.is_some() => {
            format!("{} within these repeats", super::percentile(of))
        }
        _ => super::percentile(of),
    }
}
