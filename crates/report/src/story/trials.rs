//! Experiments in words.

use std::fmt::Write as _;

use slowpath_diagnose::diagnosis::Finding;
use slowpath_experiment::{
    Effect, Experiment, Hypothesis, Intervention, Outcome, Summary, Verdict,
};

use crate::quantity;

/// Whether an experiment was about a finding: same cause, same endpoint or none.
pub(crate) fn tests(experiment: &Experiment, finding: &Finding) -> bool {
    experiment.cause == finding.cause && experiment.endpoint == finding.endpoint
}

/// The part of a metric after its endpoint: `p50`.
fn measure(hypothesis: &Hypothesis) -> &str {
    hypothesis
        .metric
        .rsplit_once('.')
        .map_or(&hypothesis.metric, |(_, measure)| measure)
}

/// An experiment in a line: `confirmed by experiment: p50 40.9 → 0.6 ms, …`.
pub(crate) fn experiment(experiment: &Experiment) -> String {
    let hypothesis = &experiment.hypothesis;
    let predicted = if hypothesis.is_of_failures() {
        format!("at most {}", value_of(hypothesis, hypothesis.high_ms))
    } else {
        quantity::range(hypothesis.low_ms, hypothesis.high_ms)
    };
    let Some(outcome) = &experiment.outcome else {
        return format!(
            "experiment not finished: predicted {} {predicted}",
            hypothesis.metric
        );
    };
    let (Some(without), Some(with)) = (&outcome.without, &outcome.with) else {
        return format!("{}: {}", judged(outcome), outcome.reason);
    };
    let mut text = format!(
        "{}: {}, {}+{} blocks",
        judged(outcome),
        moved(hypothesis, without, with),
        without.blocks,
        with.blocks
    );
    if let Some(p) = outcome.p {
        let _ = write!(text, ", {}", quantity::p_value(p));
    }
    let _ = write!(text, ", predicted {predicted}");
    if !outcome.predicted_held {
        text += " (missed)";
    }
    if outcome.verdict != Verdict::Confirmed {
        let _ = write!(text, "; {}", outcome.reason);
    }
    text
}

const fn judged(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::Confirmed => "confirmed by experiment",
        Verdict::Refuted => "refuted by experiment",
        Verdict::Undecided => "undecided by experiment",
    }
}

/// A value of the hypothesis's metric in its unit.
pub(crate) fn value_of(hypothesis: &Hypothesis, value: f64) -> String {
    if hypothesis.is_of_failures() {
        quantity::percent(value / 100.0)
    } else {
        quantity::duration(value)
    }
}

/// A range of values in the unit of the hypothesis's metric.
pub(crate) fn values_of(hypothesis: &Hypothesis, low: f64, high: f64) -> String {
    if hypothesis.is_of_failures() {
        format!("{}-{}", low.round(), quantity::percent(high / 100.0))
    } else {
        quantity::range(low, high)
    }
}

fn moved(hypothesis: &Hypothesis, without: &Summary, with: &Summary) -> String {
    if hypothesis.is_of_failures() {
        let (from, to) = (without.slow_share, with.slow_share);
        let over = quantity::duration(hypothesis.slow_above_ms);
        let (from, to) = (quantity::percent(from), quantity::percent(to));
        return format!("failed or over {over} {from} → {to}");
    }
    let metric = quantity::change(without.median_ms, with.median_ms);
    let metric = format!("{} {metric}", measure(hypothesis));
    match hypothesis.intervention.effect() {
        Effect::Rises { .. } => metric,
        Effect::Falls => {
            let over = quantity::duration(hypothesis.slow_above_ms);
            let (from, to) = (
                quantity::percent(without.slow_share),
                quantity::percent(with.slow_share),
            );
            format!("{metric}, over {over} {from} → {to}")
        }
    }
}

/// What an experiment does, as a noun.
pub(crate) fn intervention(intervention: &Intervention) -> String {
    match intervention {
        Intervention::ClientQuickAck => "immediate acknowledgements by the client".to_owned(),
        Intervention::TimerSlack { slack_ns } => {
            format!(
                "timer slack of {}",
                quantity::duration(*slack_ns as f64 / 1e6)
            )
        }
        Intervention::CpuQuota { from_ns, to_ns } => {
            let change = quantity::change(*from_ns as f64 / 1e6, *to_ns as f64 / 1e6);
            format!("CPU quota {change} a period")
        }
        Intervention::LeaveOut { endpoint } => format!("the requests of {endpoint} not sent"),
        Intervention::KeepOneOf { of } => format!("one request of {of} sent"),
        Intervention::KeysApart => "no two requests at a time for one key".to_owned(),
        Intervention::FewerKeys { of } => format!("one key in {of} asked for"),
        Intervention::FreshConnections => "a connection for each request".to_owned(),
        Intervention::KeptConnections => "connections used again".to_owned(),
        Intervention::IdleLimit { limit_ns } => {
            let limit = quantity::duration(*limit_ns as f64 / 1e6);
            format!("connections idle for over {limit} made again")
        }
        Intervention::FileLimit { to } => format!("{to} open files allowed to the target"),
        Intervention::Niceness { nice, except } => {
            let but = except
                .as_ref()
                .map_or_else(String::new, |name| format!(" but {name}"));
            format!("niceness {nice} for the target{but}")
        }
        Intervention::PauseThread { thread } => format!("thread {thread} paused"),
        Intervention::DelayService {
            service, delay_ns, ..
        } => {
            let delay = quantity::duration(*delay_ns as f64 / 1e6);
            format!("service {service} asked {delay} later")
        }
        Intervention::Toggle { name } => format!("the toggle {name} on"),
    }
}
