//! Whether a run that went on until it is precise has become so.

use slowpath_core::plan::Plan;
use slowpath_core::stats::repeats::{ENOUGH, LogMean, Stopping, log_mean};

use crate::diagnosis::{Check, EndpointFigures, HostHealth, RepeatFigures, Status};
use crate::figures::share;
use crate::over_repeats::asides;
use crate::run_figures::subject;

/// The percentiles that a precision is asked of.
const PERCENTILES: [&str; 2] = ["p50", "p99"];

/// More repeats than this are not advised: the width shrinks with their root alone.
const REPEATS_ADVISED: usize = 50;

/// The check of the least precise figure over the repeats that comparisons do not exclude;
/// `None` if no precision was asked for.
pub(crate) fn precision(
    plan: &Plan,
    health: Option<&HostHealth>,
    endpoints: &[EndpointFigures],
) -> Option<Check> {
    let wanted = plan.scenario.load.precision?;
    let kept: Vec<Kept<'_>> = endpoints
        .iter()
        .map(|endpoint| {
            let asides = asides(health, plan, endpoint);
            let repeats = endpoint.by_repeat.iter();
            let kept = repeats.filter(|r| !asides.contains_key(&r.repeat));
            (subject(endpoint), kept.collect())
        })
        .collect();
    (!kept.is_empty()).then(|| check(wanted, &kept))
}

/// An endpoint (of a pass) by its name, with the repeats of it that count.
type Kept<'a> = (String, Vec<&'a RepeatFigures>);

fn check(wanted: f64, kept: &[Kept<'_>]) -> Check {
    let rows: Vec<(String, LogMean)> = kept
        .iter()
        .flat_map(|(subject, repeats)| {
            PERCENTILES.into_iter().filter_map(move |name| {
                let of = |r: &&RepeatFigures| r.latency_ms.get(name).copied();
                let values: Option<Vec<f64>> = repeats.iter().map(of).collect();
                let found = log_mean(&values?, None).ok()?;
                Some((format!("{name} of {subject}"), found))
            })
        })
        .collect();
    let half = |found: &LogMean| found.half_width_log.exp_m1();
    let worst = rows.iter().max_by(|a, b| half(&a.1).total_cmp(&half(&b.1)));
    let fewest = kept.iter().min_by_key(|(_, repeats)| repeats.len());
    let percent = |share: f64| format!("±{:.1} %", share * 100.0);
    let (status, detail) = match (worst, fewest) {
        (Some((what, found)), _) if half(found) > wanted => (
            Status::Warn,
            format!(
                "{what} is known to {} over {} repeats, {} was wanted: {}",
                percent(half(found)),
                found.runs,
                percent(wanted),
                advice(wanted, found.sd_log)
            ),
        ),
        (Some(_), Some((subject, repeats))) if repeats.len() < ENOUGH => (
            Status::Warn,
            format!(
                "{subject} has {} repeats that count: a narrow interval of fewer than {ENOUGH} is \
                 luck",
                repeats.len()
            ),
        ),
        (Some((what, found)), _) => (
            Status::Ok,
            format!(
                "{what}, the least precise, is known to {} over {} repeats; {} was wanted",
                percent(half(found)),
                found.runs,
                percent(wanted)
            ),
        ),
        (None, _) => (
            Status::Warn,
            "too few repeats to know how precise anything is".to_owned(),
        ),
    };
    Check {
        check: "precision".to_owned(),
        status,
        value: worst.map(|(_, found)| share(half(found))),
        detail: detail + &unjudged(kept),
    }
}

/// The percentiles that not every repeat has, and that are therefore neither waited for nor judged.
fn unjudged(kept: &[Kept<'_>]) -> String {
    let lacking = kept.iter().flat_map(|(subject, of)| {
        PERCENTILES.into_iter().filter_map(move |name| {
            let has = |r: &&&RepeatFigures| r.latency_ms.contains_key(name);
            let have = of.iter().filter(has).count();
            let (all, lack) = (of.len(), of.len() - have);
            (lack > 0).then(|| {
                format!(
                    "; {name} of {subject} is not judged: {lack} of {all} repeats have too few \
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
        let told = unjudged(&[(search(), vec![&both, &p50, &p50])]);
        assert_eq!(
            told,
            "; p99 of search is not judged: 2 of 3 repeats have too few requests for it"
        );
        assert_eq!(unjudged(&[(search(), vec![&both; 3])]), "");
    }

    /// Repeats of a percentile, by the lengths it had.
    fn repeats(of_ms: &[f64]) -> Vec<RepeatFigures> {
        let repeat = |&ms: &f64| RepeatFigures {
            latency_ms: [("p50".to_owned(), ms)].into(),
            ..RepeatFigures::default()
        };
        of_ms.iter().map(repeat).collect()
    }

    #[test]
    fn each_pass_is_judged_by_its_own_repeats() {
        let warm = repeats(&[10.0, 10.1, 9.9, 10.05, 9.95, 10.0]);
        // Three of the six cold ones were excluded, and the others agree by luck.
        let cold = repeats(&[30.0, 30.01, 29.99]);
        let check = |cold: &[RepeatFigures]| {
            let kept = [
                ("search (cold)".to_owned(), cold.iter().collect()),
                ("search (warm)".to_owned(), warm.iter().collect()),
            ];
            check(0.05, &kept)
        };
        let few = check(&cold);
        assert_eq!(few.status, Status::Warn, "{}", few.detail);
        assert!(
            few.detail.contains("search (cold) has 3 repeats"),
            "{}",
            few.detail
        );
        // What a pass lacks is counted of its own repeats: p99 has too few requests in all of them.
        assert!(
            few.detail
                .contains("p99 of search (cold) is not judged: 3 of 3"),
            "{}",
            few.detail
        );
        assert!(
            few.detail
                .contains("p99 of search (warm) is not judged: 6 of 6"),
            "{}",
            few.detail
        );

        let lone = check(&repeats(&[30.0]));
        assert_eq!(lone.status, Status::Warn, "{}", lone.detail);

        let wide = check(&repeats(&[30.0, 33.0, 27.0]));
        let told = "p50 of search (cold) is known to";
        assert!(
            wide.detail.starts_with(told) && wide.detail.contains("over 3 repeats"),
            "{}",
            wide.detail
        );
        let enough = check(&repeats(&[30.0, 30.1, 29.9, 30.0, 30.1]));
        assert_eq!(enough.status, Status::Ok, "{}", enough.detail);
        assert!(
            enough.detail.contains("over 6 repeats"),
            "{}",
            enough.detail
        );
    }

    #[test]
    fn the_advice_counts_repeats() {
        // t of 7 degrees times 0.06 over the root of 8 is 0.0502, of 9 runs 0.0461.
        let told = "9 repeats that scatter like these would give it";
        assert_eq!(advice(0.05, 0.06), told);
        assert!(advice(0.05, 0.5).contains("a quieter host may"));
    }
}
