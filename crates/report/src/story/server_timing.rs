//! What the target says in `Server-Timing`, in words.

use slowpath_diagnose::diagnosis::{EndpointTimings, TimingFigures};

use crate::quantity;

/// Metrics that the line names; the report has the others.
const NAMED: usize = 3;
/// What has a smaller share than this is not worth a word.
const TOLD_FROM: f64 = 0.01;

/// `the server says (Server-Timing, 31 slow and 781 other requests) that of slow requests' time 93 %
/// is in db (120 ms, 1.1 ms otherwise; 98 % of what they take longer), …`.
pub(super) fn told(timings: &EndpointTimings) -> String {
    let share = |metric: &TimingFigures| metric.slow_share.or(metric.fast_share);
    let worth = |metric: &&TimingFigures| share(metric).is_some_and(|share| share >= TOLD_FROM);
    let metrics: Vec<String> = timings
        .metrics
        .iter()
        .filter(worth)
        .take(NAMED)
        .map(one)
        .collect();
    let others = timings.with_header - timings.slow.min(timings.with_header);
    let of = if timings.slow > 0 {
        format!(
            "{} slow and {} other requests",
            quantity::count(timings.slow),
            quantity::count(others)
        )
    } else {
        quantity::plural(others, "request")
    };
    let whose = if timings.slow > 0 {
        "slow requests' time"
    } else {
        "the latency"
    };
    let metrics = if metrics.is_empty() {
        "less than 1 % is in each of its metrics".to_owned()
    } else {
        metrics.join(", ")
    };
    let mut text = format!("the server says (Server-Timing, {of}) that of {whose} {metrics}");
    let beyond = timings.metrics.iter().map(|metric| metric.beyond).max();
    if let Some(beyond) = beyond.filter(|&beyond| beyond > 0) {
        let requests = quantity::plural(beyond, "request");
        text.push_str(&["; of ", &requests, " it says more than they lasted"].concat());
    }
    if timings.one_in > 1 {
        let one_in = quantity::count(timings.one_in.into());
        text.push_str(&["; one request in ", &one_in, " is kept"].concat());
    }
    text
}

/// `93 % is in db (120 ms, 1.1 ms otherwise; 98 % of what they take longer)`.
fn one(metric: &TimingFigures) -> String {
    let (name, ms) = (&metric.name, quantity::duration);
    match (
        metric.slow_ms.zip(metric.slow_share),
        metric.fast_ms.zip(metric.fast_share),
    ) {
        (Some((slow_ms, slow)), Some((fast_ms, _))) => {
            let excess = metric
                .excess_share
                .map(|share| format!("; {} of what they take longer", quantity::percent(share)));
            format!(
                "{} is in {name} ({}, {} otherwise{})",
                quantity::percent(slow),
                ms(slow_ms),
                ms(fast_ms),
                excess.unwrap_or_default()
            )
        }
        (Some((one_ms, share)), None) | (None, Some((one_ms, share))) => {
            format!("{} is in {name} ({})", quantity::percent(share), ms(one_ms))
        }
        (None, None) => format!("nothing is in {name}"),
    }
}
