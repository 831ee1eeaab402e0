//! What an experiment predicts, written before its first block.

use anyhow::Result;
use slowpath_core::catalogue::{CPU_QUOTA_THROTTLING, DELAYED_ACK, FIXED_DELAY};
use slowpath_core::nanos::{MILLISECOND, SECOND};
use slowpath_core::signal::{CGROUP_PERIOD, CGROUP_QUOTA};
use slowpath_core::stats::quantile::type_1;
use slowpath_core::timeline::Subject;
use slowpath_diagnose::case::{Case, EndpointCase};
use slowpath_diagnose::diagnosis::{Finding, Place};
use slowpath_experiment::{Design, FEWEST_PAIRS, Hypothesis, Intervention, block_ns};

use crate::exit::Problem;
use crate::notes;
use crate::present::Judged;

/// How much later timers may fire in the blocks with the intervention: one tick at HZ = 250,
/// which is what a busy CPU lets through, and far above the scatter of a median.
const SLACK_NS: u64 = 4 * MILLISECOND;
/// A rise below this part of the slack is not predicted: ticks of a busy CPU end timers early.
const RISE_LEAST: f64 = 0.05;
/// Wakes and queueing may add to the slack; the same tolerance as the verdict's.
const RISE_MOST: f64 = 1.25;
/// A queue that the quota has built up must drain before blocks are compared.
const QUOTA_GUARD_NS: u64 = 1_500 * MILLISECOND;
/// … which takes blocks that are longer than the shortest.
const QUOTA_BLOCK_NS: u64 = 3 * SECOND;

/// The hypothesis for a finding, and the design that tests it.
pub(crate) fn write(judged: &Judged, finding: &Finding, seed: u64) -> Result<(Hypothesis, Design)> {
    let pass = finding.pass.as_deref();
    let own = pass.map(|pass| slowpath_diagnose::of_pass(&judged.record, pass));
    let case = Case::new(own.as_ref().unwrap_or(&judged.record));
    let endpoint = endpoint(&case, finding)?;
    let (hypothesis, period_ns) = match finding.cause.as_str() {
        DELAYED_ACK => (delayed_ack(endpoint, finding)?, 0),
        CPU_QUOTA_THROTTLING => quota(&case, endpoint, finding)?,
        FIXED_DELAY => (fixed_delay(endpoint, finding)?, 0),
        other => return Err(Problem::usage(format!("no experiment for {other}"), "").into()),
    };
    let slow_share = slow_share(endpoint, &hypothesis);
    let rate_per_s = endpoint.completed.len() as f64 / (case.measured_ns() as f64 / 1e9);
    let block = block_ns(rate_per_s, slow_share, period_ns)
        .map_err(|e| Problem::usage(e, "measure at a higher rate"))?;
    let mut design = Design::new(seed, FEWEST_PAIRS, block);
    if finding.cause == CPU_QUOTA_THROTTLING {
        design.guard_ns = QUOTA_GUARD_NS;
        design.block_ns = design.block_ns.max(QUOTA_BLOCK_NS);
    }
    Ok((hypothesis, design))
}

fn endpoint<'a>(case: &'a Case<'_>, finding: &Finding) -> Result<&'a EndpointCase, Problem> {
    let named = |e: &&EndpointCase| {
        finding
            .endpoint
            .as_deref()
            .is_none_or(|name| e.name == name)
    };
    case.endpoints.iter().find(named).ok_or_else(|| {
        Problem::usage(
            "the finding's endpoint is not in the run",
            "slowpath explain RUN",
        )
    })
}

/// What share of requests is slow in the sense of the hypothesis; all when a rise is predicted.
fn slow_share(endpoint: &EndpointCase, hypothesis: &Hypothesis) -> f64 {
    if matches!(hypothesis.intervention, Intervention::TimerSlack { .. }) {
        return 1.0;
    }
    let sorted = &endpoint.split.sorted_ns;
    let fast = sorted.partition_point(|&ns| ns as f64 / 1e6 <= hypothesis.slow_above_ms);
    (sorted.len() - fast) as f64 / sorted.len().max(1) as f64
}

/// The metric that the finding predicts, its value in the run, and the predicted interval.
fn predicted(
    endpoint: &EndpointCase,
    finding: &Finding,
) -> Result<(String, f64, f64, f64), Problem> {
    let none = || Problem::usage("the finding predicts nothing", "measure for longer");
    let prediction = finding.prediction.as_ref().ok_or_else(none)?;
    let p = percentile_of(&prediction.metric);
    let baseline = type_1(&endpoint.split.sorted_ns, p).ok_or_else(none)? as f64 / 1e6;
    Ok((
        prediction.metric.clone(),
        baseline,
        prediction.low_ms,
        prediction.high_ms,
    ))
}

/// The percentile that a metric `ENDPOINT.pNN` names; the p99 if it names none.
pub(crate) fn percentile_of(metric: &str) -> f64 {
    let named = metric.rsplit_once(".p").map(|(_, digits)| digits.parse());
    match named {
        Some(Ok::<u8, _>(percent)) if percent < 100 => f64::from(percent) / 100.0,
        _ => 0.99,
    }
}

/// Between what is and what is predicted, on the scale on which latencies differ.
fn between(baseline_ms: f64, high_ms: f64) -> f64 {
    (baseline_ms * high_ms.min(baseline_ms)).sqrt()
}

fn delayed_ack(endpoint: &EndpointCase, finding: &Finding) -> Result<Hypothesis, Problem> {
    let (metric, baseline_ms, low_ms, high_ms) = predicted(endpoint, finding)?;
    Ok(Hypothesis {
        statement: format!(
            "if the client acknowledges at once (TCP_QUICKACK), Nagle's algorithm has nothing to \
             wait for: {metric} falls from {baseline_ms:.2} ms to between {low_ms:.2} and \
             {high_ms:.2} ms"
        ),
        intervention: Intervention::ClientQuickAck,
        slow_above_ms: between(baseline_ms, high_ms),
        metric,
        baseline_ms,
        low_ms,
        high_ms,
        written_at: notes::now_utc(),
    })
}

fn quota(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    finding: &Finding,
) -> Result<(Hypothesis, u64), Problem> {
    let (metric, baseline_ms, low_ms, high_ms) = predicted(endpoint, finding)?;
    let mean = |signal| {
        case.series(signal, &Subject::Target, "")
            .and_then(|s| case.measured_mean(s))
    };
    let (from, period) = mean(&CGROUP_QUOTA)
        .zip(mean(&CGROUP_PERIOD))
        .ok_or_else(|| {
            Problem::usage("the run did not record the quota", "measure again as root")
        })?;
    let cpus = f64::from(case.record.manifest.host.cpus.max(1));
    let hypothesis = Hypothesis {
        statement: format!(
            "if the cgroup's quota of {:.1} ms in {:.0} ms is lifted, nothing is throttled: \
             {metric} falls from {baseline_ms:.1} ms to between {low_ms:.1} and {high_ms:.1} ms",
            from / 1e6,
            period / 1e6
        ),
        intervention: Intervention::CpuQuota {
            from_ns: from as u64,
            to_ns: (cpus * period) as u64,
        },
        slow_above_ms: between(baseline_ms, high_ms),
        metric,
        baseline_ms,
        low_ms,
        high_ms,
        written_at: notes::now_utc(),
    };
    Ok((hypothesis, period as u64))
}

fn fixed_delay(endpoint: &EndpointCase, finding: &Finding) -> Result<Hypothesis, Problem> {
    let none = || Problem::usage("the run has no completed request", "measure again");
    let (p, name) = if finding.place == Place::Floor {
        (0.5, "p50")
    } else {
        (0.99, "p99")
    };
    let baseline_ms = type_1(&endpoint.split.sorted_ns, p).ok_or_else(none)? as f64 / 1e6;
    let slack_ms = SLACK_NS as f64 / 1e6;
    let metric = format!("{}.{name}", endpoint.name);
    let low_ms = baseline_ms + RISE_LEAST * slack_ms;
    let high_ms = baseline_ms + RISE_MOST * slack_ms;
    Ok(Hypothesis {
        statement: format!(
            "if timers of the target may fire up to {slack_ms:.0} ms late, a wait on a timer gets \
             longer and nothing else does: {metric} rises from {baseline_ms:.2} ms to between \
             {low_ms:.2} and {high_ms:.2} ms"
        ),
        intervention: Intervention::TimerSlack { slack_ns: SLACK_NS },
        slow_above_ms: baseline_ms + slack_ms / 2.0,
        metric,
        baseline_ms,
        low_ms,
        high_ms,
        written_at: notes::now_utc(),
    })
}
