//! Whether a run that went on until it is precise has become so.

use slowpath_core::plan::Plan;
use slowpath_core::stats::repeats::{ENOUGH, Stopping, log_mean};

use crate::diagnosis::{Check, EndpointFigures, HostHealth, RepeatFigures, Status};
use crate::figures::share;
use crate::over_repeats::asides;
use crate::run_figures::subject;

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
    let kept: Vec<(String, Vec<&RepeatFigures>)> = endpoints
        .iter()
        .map(|endpoint| {
            let asides = asides(health, plan, endpoint);
            let repeats = endpoint.by_repeat.iter();
            let kept = repeats.filter(|r| !asides.contains_key(&r.repeat));
            (subject(endpoint), kept.collect())
        })
        .collect();
    let repeats = kept.iter().map(|(_, repeats)| repeats.len()).max()?;
    let widths = kept.iter().flat_map(|(subject, repeats)| {
        PERCENTILES.into_iter().filter_map(move |name| {
            let of = |r: &&RepeatFigures| r.latency_ms.get(name).copied();
            let values: Option<Vec<f64>> = repeats.iter().map(of).collect();
            let found = log_mean(&values?, None).ok()?;
            let width = found.half_width_log.exp_m1();
            Some((width, format!("{name} of {subject}"), found.sd_log))
        })
    });
    let worst = widths.max_by(|a, b| a.0.total_cmp(&b.0));
    let unjudged = unjudged(&kept, repeats);
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
        detail: detail + &unjudged,
    })
}

/// The percentiles that not every repeat has, and that are therefore neither waited for nor judged.
fn unjudged(kept: &[(String, Vec<&RepeatFigures>)], repeats: usize) -> String {
    let lacking = kept.iter().flat_map(|(subject, of)| {
        PERCENTILES.into_iter().filter_map(move |name| {
            let has = |r: &&&RepeatFigures| r.latency_ms.contains_key(name);
            let have = of.iter().filter(has).count();
            let lack = repeats - have;
            (lack > 0).then(|| {
                format!(
                    "; {name} of {subject} is not judged: {lack} of {repeats} repeats have too few \
                     requests for it"
                )
            })
        })
    });
    lacking.collect()
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
    fn what_not_every_repeat_has_is_told() {
        let repeat = |names: &[&str]| RepeatFigures {
            latency_ms: names.iter().map(|name| ((*name).to_owned(), 1.0)).collect(),
            ..RepeatFigures::default()
        };
        let (both, p50) = (repeat(&["p50", "p99"]), repeat(&["p50"]));
        let search = || "search".to_owned();
        let told = unjudged(&[(search(), vec![&both, &p50, &p50])], 3);
        assert_eq!(
            told,
            "; p99 of search is not judged: 2 of 3 repeats have too few requests for it"
        );
        assert_eq!(unjudged(&[(search(), vec![&both; 3])], 3), "");
    }

    #[test]
    fn the_advice_counts_repeats() {
        // t of 7 degrees times 0.06 over the root of 8 is 0.0502, of 9 runs 0.0461.
        let told = "9 repeats that scatter like these would give it";
        assert_eq!(advice(0.05, 0.06), told);
        assert!(advice(0.05, 0.5).contains("a quieter host may"));
    }
}
