//! What an intervention that takes the cause away must do to the figures of a run.

use anyhow::Result;
use slowpath_core::stats::quantile::type_1;
use slowpath_diagnose::diagnosis::{Place, Prediction};
use slowpath_experiment::{ERRORS, Hypothesis, Intervention};

use super::Ground;
use crate::exit::Problem;
use crate::notes;

/// With no class of its own to fall to, everything is to become this much faster: what remains of a
/// cause that explains a request is less than the half of it.
const REMAINS: f64 = 0.5;
/// The fast class may be as much slower in other blocks: medians of the same server differ by up to
/// 30 % from run to run on a shared machine.
const SCATTER: f64 = 1.3;
/// Slow requests that a percentile needs beyond it, as a share of those beyond: at the edge it would
/// lie in this class in one block and in that one in the next.
const WELL_WITHIN: f64 = 1.5;
/// A request that takes so many medians counts as failed where failures are judged: it waited for
/// what others did not get at all.
const STUCK_MEDIANS: f64 = 20.0;
/// … and no less than this, in milliseconds: what waits for room waits for somebody's timer.
const STUCK_LEAST_MS: f64 = 500.0;

/// A metric with what it is and what it must become.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) metric: String,
    pub(super) baseline: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) slow_above_ms: f64,
}

impl Moved {
    /// By what the finding predicts; without one by the run's own classes: the slow requests
    /// become like the fast ones.
    pub(super) fn of(ground: &Ground<'_>) -> Result<Self, Problem> {
        let finding = ground.finding.filter(|f| f.place != Place::Errors);
        match finding.and_then(|finding| finding.prediction.as_ref()) {
            Some(prediction) => Self::predicted(ground, prediction),
            None => Self::own_classes(ground),
        }
    }

    fn predicted(ground: &Ground<'_>, prediction: &Prediction) -> Result<Self, Problem> {
        let metric = prediction.metric.clone();
        let baseline = quantile(ground, super::percentile_of(&metric))?;
        let (low, high) = (prediction.low_ms, prediction.high_ms);
        Ok(Self {
            metric,
            baseline,
            low,
            high,
            // Between what is and what is predicted, on the scale on which latencies differ.
            slow_above_ms: (baseline * high.min(baseline)).sqrt(),
        })
    }

    /// Slow requests become like fast ones.
    pub(super) fn own_classes(ground: &Ground<'_>) -> Result<Self, Problem> {
        let split = &ground.endpoint.split;
        let name = &ground.endpoint.name;
        let all = split.sorted_ns.len().max(1) as f64;
        let classes = split.cut_ns.zip(split.fast_ns).and_then(|(cut, fast)| {
            let slow = split.sorted_ns.len() - split.sorted_ns.partition_point(|&ns| ns < cut);
            let share = slow as f64 / all;
            let places = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")];
            let place = places
                .iter()
                .find(|(p, _)| share > (1.0 - p) * WELL_WITHIN)?;
            Some((cut, fast, *place))
        });
        let Some((cut, fast, (p, place))) = classes else {
            let baseline = quantile(ground, 0.5)?;
            return Ok(Self {
                metric: format!("{name}.p50"),
                baseline,
                low: 0.0,
                high: baseline * REMAINS,
                slow_above_ms: baseline * REMAINS,
            });
        };
        let cut_ms = cut as f64 / 1e6;
        Ok(Self {
            metric: format!("{name}.{place}"),
            baseline: quantile(ground, p)?,
            low: fast as f64 / 1e6 * REMAINS,
            high: cut_ms.max(fast as f64 / 1e6 * SCATTER),
            slow_above_ms: cut_ms,
        })
    }

    /// Requests no longer fail, nor wait for what others did not get at all.
    pub(super) fn failures(ground: &Ground<'_>) -> Self {
        let endpoint = ground.endpoint;
        let median_ms = endpoint.split.fast_ns.unwrap_or(0) as f64 / 1e6;
        let slow_above_ms = (STUCK_MEDIANS * median_ms).max(STUCK_LEAST_MS);
        let baseline = 100.0 * failed_share(ground, slow_above_ms);
        Self {
            metric: format!("{}{ERRORS}", endpoint.name),
            baseline,
            low: 0.0,
            // What a fall has to be to count.
            high: baseline * 0.2,
            slow_above_ms,
        }
    }

    /// The hypothesis. `done` is a clause: what is done, and what it does to the cause.
    pub(super) fn hypothesis(
        self,
        ground: &Ground<'_>,
        done: &str,
        intervention: Intervention,
    ) -> Hypothesis {
        let if_it_is = if ground.finding.is_some() {
            String::new()
        } else {
            format!("supposing that {} is the cause: ", ground.cause)
        };
        let Self {
            metric,
            baseline,
            low,
            high,
            slow_above_ms,
        } = self;
        let statement = if metric.ends_with(ERRORS) {
            format!(
                "{if_it_is}if {done}: the share of requests of {} that fail or take over \
                 {slow_above_ms:.0} ms falls from {baseline:.1} % to {high:.1} % or less",
                ground.endpoint.name
            )
        } else {
            format!(
                "{if_it_is}if {done}: {metric} falls from {baseline:.2} ms to between {low:.2} and \
                 {high:.2} ms"
            )
        };
        Hypothesis {
            statement,
            intervention,
            metric,
            baseline_ms: baseline,
            low_ms: low,
            high_ms: high,
            slow_above_ms,
            remains: 0.0,
            written_at: notes::now_utc(),
        }
    }
}

/// A percentile of the endpoint in the run, in milliseconds.
pub(super) fn quantile(ground: &Ground<'_>, p: f64) -> Result<f64, Problem> {
    let none = || Problem::usage("the run has no completed request", "measure again");
    let ns = type_1(&ground.endpoint.split.sorted_ns, p).ok_or_else(none)?;
    Ok(ns as f64 / 1e6)
}

/// The share of requests that failed or took longer.
pub(super) fn failed_share(ground: &Ground<'_>, slow_above_ms: f64) -> f64 {
    let endpoint = ground.endpoint;
    let sorted = &endpoint.split.sorted_ns;
    let fine = sorted.partition_point(|&ns| ns as f64 / 1e6 <= slow_above_ms);
    let bad = sorted.len() - fine + endpoint.failed.len();
    bad as f64 / (fine + bad).max(1) as f64
}
