//! Whether a run that went on until it is precise has become so.

use slowpath_core::plan::Plan;
use slowpath_core::stats::repeats::{ENOUGH, Stopping, log_mean};

use crate::diagnosis::{Check, EndpointFigures, HostHealth, RepeatFigures, Status};
use crate::figures::share;
use crate::over_repeats::asides;

/// The percentiles that a precision is asked of.
const PERCENTILES: [&str; 2] = ["p50", "p99"];

/// More repeats than this are not advised: the width shrinks with their root alone.
const REPEATS_ADVISED: usize = 50;

/// The check of the least precise figure over the repeats that comparisons do not put aside;
/// `None` if no precision was asked for.
pub(crate) fn precision(
    plan: &Plan,
    health: Option<&HostHealth>,
    endpoints: &[EndpointFigures],
) -> Option<Check> {
    let wanted = plan.scenario.load.precision?;
    let kept: Vec<(&EndpointFigures, Vec<&RepeatFigures>)> = endpoints
        .iter()
        .map(|endpoint| {
            let asides = asides(health, plan, endpoint);
            let repeats = endpoint.by_repeat.iter();
            let kept = repeats.filter(|r| !asides.contains_key(&r.repeat));
            (endpoint, kept.collect())
        })
        .collect();
    let repeats = kept.iter().map(|(_, repeats)| repeats.len()).max()?;
    let widths = kept.iter().flat_map(|(endpoint, repeats)| {
        PERCENTILES.into_iter().filter_map(move |name| {
            let of = |r: &&RepeatFigures| r.latency_ms.get(name).copied();
            let values: Option<Vec<f64>> = repeats.iter().map(of).collect();
            let found = log_mean(&values?, None).ok()?;
            let width = found.half_width_log.exp_m1();
            Some((width, format!("{name} of {}", endpoint.name), found.sd_log))
        })
    });
    let worst = widths.max_by(|a, b| a.0.total_cmp(&b.0));
    let percent = |share: f64| format!("±{:.1} %", share * 100.0);
    let (status, value, detail) = match worst {
        Some((half, what, _)) if half <= wanted && repeats >= ENOUGH => (
            Status::Ok,
            Some(share(half)),
            format!(
                "{what}, the least precise, is known to {} over {repeats} repeats; {} was wanted",
                percent(half),
                percent(wanted)
            ),
        ),
        Some((half, what, sd_log)) => (
            Status::Warn,
            Some(share(half)),
            format!(
                "{what} is known to {} over {repeats} repeats, {} was wanted: {}",
                percent(half),
                percent(wanted),
                advice(wanted, sd_log)
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

/// How many repeats that scatter like these make the wanted precision.
fn advice(wanted: f64, sd_log: f64) -> String {
    let rule = Stopping {
        half_width_log: wanted.ln_1p(),
        most: REPEATS_ADVISED,
        ..Stopping::default()
    };
    match rule.expected(sd_log) {
        Some(repeats) => format!("{repeats} repeats that scatter like these would give it"),
        None => format!(
            "{REPEATS_ADVISED} repeats that scatter like these would not give it; a longer duration \
             or a quieter host may"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_counts_repeats() {
        // t of 7 degrees times 0.06 over the root of 8 is 0.0502, of 9 runs 0.0461.
        let told = "9 repeats that scatter like these would give it";
        assert_eq!(advice(0.05, 0.06), told);
        assert!(advice(0.05, 0.5).contains("a quieter host may"));
    }
}
