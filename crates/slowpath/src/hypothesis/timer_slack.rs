//! Timers of the target may fire late.

use slowpath_core::catalogue::FIXED_DELAY;
use slowpath_core::nanos::MILLISECOND;
use slowpath_diagnose::diagnosis::Place;
use slowpath_experiment::{Hypothesis, Intervention};

use super::moved::quantile;
use super::{Ground, Kind, Written};
use crate::exit::Problem;
use crate::notes;

/// How much later timers may fire in the blocks with the intervention: one tick at HZ = 250,
/// which is what a busy CPU lets through, and far above the scatter of a median.
const SLACK_NS: u64 = 4 * MILLISECOND;
/// A rise below this part of the slack is not predicted: ticks of a busy CPU end timers early.
const RISE_LEAST: f64 = 0.05;
/// Wakes and queueing may add to the slack; the same tolerance as the verdict's.
const RISE_MOST: f64 = 1.25;

pub(super) static KIND: Kind = Kind {
    causes: &[FIXED_DELAY],
    shared: Some("requests wait on a timer of some kind, and how long that is was not tested"),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let of_tail = ground.finding.is_some_and(|f| f.place != Place::Floor);
    let (p, name) = if of_tail { (0.99, "p99") } else { (0.5, "p50") };
    let baseline_ms = quantile(ground, p)?;
    let slack_ms = SLACK_NS as f64 / 1e6;
    let metric = format!("{}.{name}", ground.endpoint.name);
    let low_ms = baseline_ms + RISE_LEAST * slack_ms;
    let high_ms = baseline_ms + RISE_MOST * slack_ms;
    let if_it_is = ground.supposing();
    Ok(Written::new(Hypothesis {
        statement: format!(
            "{if_it_is}if timers of the target may fire up to {slack_ms:.0} ms late, a wait on a \
             timer gets longer and nothing else does: {metric} rises from {baseline_ms:.2} ms to \
             between {low_ms:.2} and {high_ms:.2} ms"
        ),
        intervention: Intervention::TimerSlack { slack_ns: SLACK_NS },
        slow_above_ms: baseline_ms + slack_ms / 2.0,
        metric,
        baseline_ms,
        low_ms,
        high_ms,
        remains: 0.0,
        written_at: notes::now_utc(),
    }))
}
