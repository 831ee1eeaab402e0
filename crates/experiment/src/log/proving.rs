//! What an experiment says to the log: which investigation it belongs to, and its hypothesis, its
//! verdict and what was measured of its prediction.

use slowpath_core::figures::Unit;
use slowpath_core::investigation::{
    Hypothesis, Investigation, Measured, Prediction, Target, Tested, Verdict, quantity,
};
use slowpath_core::nanos::MILLISECOND;

use super::Log;
use super::status::{Status, status};
use crate::experiment::{self, Experiment, Summary};

/// An experiment as it is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Proved {
    /// What was supposed and predicted; without a prediction where the log has no such figure.
    pub hypothesis: Hypothesis,
    /// What the experiment said of it.
    pub tested: Tested,
    /// What became of the predicted interval, and the figure under the intervention.
    pub verdict: Verdict,
    /// The figure under the intervention: the median of its blocks, between the least and the largest.
    pub measured: Option<Measured>,
    /// One sentence: the figure with and without the intervention.
    pub text: String,
}

/// The open investigation that an experiment on a run of that scenario belongs to: one that cites the
/// run, or else one about the figure that was predicted; of several the one with both, and of these
/// the one that was opened last.
pub fn belongs_to<'a>(
    log: &Log<'a>,
    scenario: &str,
    experiment: &Experiment,
) -> Option<&'a Investigation> {
    let target = target(&experiment.hypothesis.metric);
    let all = log.investigations().iter().filter_map(|investigation| {
        let (opened, symptom) = investigation.opened()?;
        let is_own = symptom.scenario == scenario && status(investigation).0 == Status::Open;
        let mut entries = investigation.entries.iter();
        let cites = entries.any(|entry| entry.runs.contains(&experiment.run));
        let target = target.as_ref();
        let is_about = target.is_some_and(|target| symptom.metric.is(target));
        let fits = u8::from(cites) * 2 + u8::from(is_about);
        (is_own && fits > 0).then_some(((fits, &opened.at, &opened.id), investigation))
    });
    all.max_by_key(|(key, _)| *key)
        .map(|(_, investigation)| investigation)
}

/// What the log says of an experiment; `None` before it is over.
pub fn proved(experiment: &Experiment) -> Option<Proved> {
    let outcome = experiment.outcome.as_ref()?;
    let own = &experiment.hypothesis;
    let unit = if own.is_of_failures() {
        Unit::Share
    } else {
        Unit::Ns
    };
    let prediction = written(&own.metric, |metric| {
        let (low, high) = (of(unit, own.low_ms), of(unit, own.high_ms));
        let that = format!(
            "{metric} in {}..{}",
            quantity(unit, low),
            quantity(unit, high)
        );
        Prediction::parse(&that, None).ok()
    });
    let verdict = match (outcome.verdict, outcome.predicted_held) {
        (experiment::Verdict::Undecided, _) => Verdict::Undecided,
        (experiment::Verdict::Confirmed, true) => Verdict::Held,
        // An interval may hold what was there before, and then nothing has to move to lie in it.
        (experiment::Verdict::Confirmed, false) | (experiment::Verdict::Refuted, _) => {
            Verdict::Failed
        }
    };
    let figure = |summary: &Summary| Measured {
        unit,
        value: of(unit, summary.median_ms),
        range: Some((of(unit, summary.low_ms), of(unit, summary.high_ms))),
    };
    let told = |name: &str, summary: Option<&Summary>| {
        let summary = summary?;
        let value = quantity(unit, of(unit, summary.median_ms));
        Some(format!("{value} in {} blocks {name}", summary.blocks))
    };
    let sides = [
        told("with the intervention", outcome.with.as_ref()),
        told("without", outcome.without.as_ref()),
    ];
    let sides: Vec<String> = sides.into_iter().flatten().collect();
    Some(Proved {
        hypothesis: Hypothesis {
            cause: Some(experiment.cause.clone()),
            answers: Vec::new(),
            prediction,
        },
        tested: match outcome.verdict {
            experiment::Verdict::Confirmed => Tested::Confirmed,
            experiment::Verdict::Refuted => Tested::Refuted,
            experiment::Verdict::Undecided => Tested::Undecided,
        },
        verdict,
        measured: outcome
            .with
            .as_ref()
            .map(figure)
            .filter(|measured| measured.value.is_finite()),
        text: format!("{}: {}", own.metric, sides.join(", ")),
    })
}

/// A metric of an experiment (milliseconds, per cent) in the unit of figures.
fn of(unit: Unit, value: f64) -> f64 {
    let factor = match unit {
        Unit::Share => 0.01,
        _ => MILLISECOND as f64,
    };
    value.max(0.0) * factor
}

/// The figure of that name.
fn target(metric: &str) -> Option<Target> {
    written(metric, |metric| Target::parse(metric).ok())
}

/// What reads a metric as it is written, or else with its endpoint between quotation marks.
fn written<T>(metric: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
    read(metric).or_else(|| {
        let (subject, name) = metric.rsplit_once('.')?;
        read(&format!("\"{subject}\".{name}"))
    })
}
