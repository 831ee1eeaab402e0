//! Whether a run that went on until it is precise has become so.

use slowpath_core::scenario::Load;
use slowpath_core::stats::repeats::{ENOUGH, log_mean};

use crate::diagnosis::{Check, EndpointFigures, RepeatFigures, Status};
use crate::figures::share;

/// The percentiles that a precision is asked of.
const PERCENTILES: [&str; 2] = ["p50", "p99"];

/// The check of the least precise figure; `None` if no precision was asked for.
pub(crate) fn precision(load: &Load, endpoints: &[EndpointFigures]) -> Option<Check> {
    let wanted = load.precision?;
    let repeats = endpoints.iter().map(|e| e.by_repeat.len()).max()?;
    let widths = endpoints.iter().flat_map(|endpoint| {
        PERCENTILES.into_iter().filter_map(move |name| {
            let of = |r: &RepeatFigures| r.latency_ms.get(name).copied();
            let values: Option<Vec<f64>> = endpoint.by_repeat.iter().map(of).collect();
            let width = log_mean(&values?, None).ok()?.half_width_log.exp_m1();
            Some((width, format!("{name} of {}", endpoint.name)))
        })
    });
    let worst = widths.max_by(|a, b| a.0.total_cmp(&b.0));
    let percent = |share: f64| format!("±{:.1} %", share * 100.0);
    let (status, value, detail) = match worst {
        Some((half, what)) if half <= wanted && repeats >= ENOUGH => (
            Status::Ok,
            Some(share(half)),
            format!(
                "{what}, the least precise, is known to {} over {repeats} repeats; {} was wanted",
                percent(half),
                percent(wanted)
            ),
        ),
        Some((half, what)) => (
            Status::Warn,
            Some(share(half)),
            format!(
                "{what} is known to {} over {repeats} repeats, {} was wanted: allow more repeats, \
                 or a longer duration",
                percent(half),
                percent(wanted)
            ),
        ),
        None => (
            Status::Warn,
            None,
            "too few repeats to know how precise anything is".to_owned(),
        ),
    };
    Some(Check {
        check: "precision".to_owned(),
        status,
        value,
        detail,
    })
}
