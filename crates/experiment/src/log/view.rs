//! A log as it is shown: what `slowpath log --json` writes, and what reports are made of.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::Unit;
use slowpath_core::investigation::{
    Entry, Investigation, Measured, Prediction, Target, What, quantity,
};

use super::calibration::Calibration;
use super::standing::{
    Standing, confounded, held_before, is_of_experiment, last, overdue_since, standing,
};
use super::status::{Status, status};
use super::{Log, is_regression};

/// Digits after the first with which the rest of a figure is reported.
const DIGITS: i32 = 3;

/// The value of [`LogReport::schema`].
pub const LOG_SCHEMA: &str = "slowpath.log/1";

/// A log: what every verb of `slowpath log` writes with `--json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogReport {
    /// Always [`LOG_SCHEMA`].
    pub schema: String,
    /// The investigations that were asked for, the newest first.
    pub investigations: Vec<InvestigationView>,
    /// Predictions that wait for a measurement, in all investigations; those that are overdue first.
    pub due: Vec<Due>,
    /// How often we were right, in all investigations.
    pub calibration: Calibration,
    /// What is wrong with the files.
    pub mistakes: Vec<LogMistake>,
    /// Files that were written.
    pub written: Vec<String>,
}

/// Something that is wrong with a file of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogMistake {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: u64,
    /// The key at fault; empty if it is about none.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// An investigation with what its entries say together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InvestigationView {
    /// The name of its folder.
    pub id: String,
    /// What is slow, in a few words.
    pub title: String,
    /// How it stands.
    pub status: Status,
    /// Why it stands so, by the entry that closed or reopened it; empty while it is open from the
    /// beginning.
    pub reason: String,
    /// The scenario or benchmark.
    pub scenario: String,
    /// The figure in which it shows.
    pub metric: String,
    /// The release that first had it.
    pub since: Option<String>,
    /// The runs in which it was seen when it was opened.
    pub runs: Vec<String>,
    /// The figure then.
    pub measured: Option<FigureView>,
    /// When it was opened.
    pub opened: String,
    /// When its last entry was written.
    pub changed: String,
    /// Its entries, in order of time.
    pub entries: Vec<EntryView>,
}

/// A figure with its interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FigureView {
    /// What the values are numbers of.
    pub unit: Unit,
    /// The figure: nanoseconds, events a second, a share, bytes or a number.
    pub value: f64,
    /// Lower end of its interval; `null` if it has none.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The same in words.
    pub text: String,
}

/// An entry. What its kind does not have is `null` or empty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryView {
    /// Its ULID.
    pub id: String,
    /// opened, observation, hypothesis, experiment, outcome, decision or reopening.
    pub kind: String,
    /// When it was written.
    pub at: String,
    /// Who wrote it; `slowpath` if no person did.
    pub by: Option<String>,
    /// What it says, in Markdown.
    pub text: String,
    /// The runs that it rests on.
    pub runs: Vec<String>,
    /// Addresses of what lies elsewhere.
    pub links: Vec<String>,
    /// Files in the investigation's folder.
    pub figures: Vec<String>,
    /// Of what slowpath wrote by itself: what it saw (novelty, drift, constant, tail or errors).
    pub sign: Option<String>,
    /// Of a hypothesis: the cause.
    pub cause: Option<String>,
    /// Of a hypothesis: the questions that it answers.
    pub answers: Vec<String>,
    /// Of a hypothesis: what it predicts.
    pub prediction: Option<PredictionView>,
    /// Of an experiment, an outcome or a decision: the hypothesis that it is about.
    pub of: Option<String>,
    /// Of an experiment or an outcome: what it said.
    pub verdict: Option<String>,
    /// Of an outcome or a change: the release.
    pub release: Option<String>,
    /// Of an outcome: the figure.
    pub measured: Option<FigureView>,
    /// Of an outcome: how far the symptom's figure moved, and what is left of it; empty if it is
    /// about another figure.
    pub residual: String,
    /// Of an outcome: the changes that came under the same measurement, so that it does not say
    /// which of them did it.
    pub confounded_by: Vec<String>,
    /// Of a decision: changed, explained, fixed, not-fixed or refuted.
    pub decides: Option<String>,
}

/// What a hypothesis predicts, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictionView {
    /// As written: `search.p99 in 96ms..118ms`.
    pub that: String,
    /// The figure: `search.p99`.
    pub metric: String,
    /// What the interval is of.
    pub unit: Unit,
    /// Its lower end: nanoseconds, events a second, a share, bytes or a number.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The release by which it must have been measured.
    pub due: Option<String>,
    /// What became of it.
    pub standing: Standing,
    /// The last release in which it held, if a later one failed it: what was fixed is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_in: Option<String>,
    /// Whether it says that the symptom gets worse.
    pub is_regression: bool,
}

/// A prediction that waits for a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Due {
    /// The investigation.
    pub investigation: String,
    /// The hypothesis, by the id of its entry.
    pub hypothesis: String,
    /// When it was predicted.
    pub at: String,
    /// What is predicted.
    pub prediction: PredictionView,
    /// The release that is due or later, and was measured without settling it; `null` if it is
    /// not overdue.
    pub overdue_since: Option<String>,
    /// What the last measurement said, if it did not settle it; empty without one.
    pub so_far: String,
}

impl LogReport {
    /// All that a log says.
    pub fn of(log: &Log<'_>) -> Self {
        let all = log.investigations().iter();
        let mut investigations: Vec<InvestigationView> = all
            .filter_map(|one| InvestigationView::of(log, one))
            .collect();
        investigations.sort_by(|a, b| (&b.opened, &b.id).cmp(&(&a.opened, &a.id)));
        let mut due: Vec<Due> = log
            .investigations()
            .iter()
            .flat_map(|i| waiting(log, i))
            .collect();
        due.sort_by_key(|one| (one.overdue_since.is_none(), one.at.clone()));
        Self {
            schema: LOG_SCHEMA.to_owned(),
            investigations,
            due,
            calibration: Calibration::of(log),
            mistakes: Vec::new(),
            written: Vec::new(),
        }
    }
}

fn waiting(log: &Log<'_>, investigation: &Investigation) -> Vec<Due> {
    let all = investigation.predictions();
    let due = all.filter_map(|(entry, prediction)| {
        let view = PredictionView::of(log, investigation, entry, prediction);
        if !view.standing.is_open() || is_of_experiment(investigation, entry) {
            return None;
        }
        let so_far = last(investigation, entry);
        let is_overdue = view.standing == Standing::Overdue;
        Some(Due {
            investigation: investigation.id.clone(),
            hypothesis: entry.id.clone(),
            at: entry.at.clone(),
            overdue_since: overdue_since(log, investigation, prediction).filter(|_| is_overdue),
            so_far: so_far.map_or_else(String::new, |(told, _)| told.text.clone()),
            prediction: view,
        })
    });
    due.collect()
}

impl InvestigationView {
    /// An investigation; `None` of one that nothing opens.
    fn of(log: &Log<'_>, investigation: &Investigation) -> Option<Self> {
        let (opened, symptom) = investigation.opened()?;
        let (status, by) = status(investigation);
        let last = investigation.entries.last()?;
        let entries = investigation.entries.iter();
        Some(Self {
            id: investigation.id.clone(),
            title: symptom.title.clone(),
            status,
            reason: by.map_or_else(String::new, |entry| entry.text.clone()),
            scenario: symptom.scenario.clone(),
            metric: symptom.metric.text().to_owned(),
            since: symptom.since.clone(),
            runs: opened.runs.clone(),
            measured: symptom.measured.as_ref().map(FigureView::of),
            opened: opened.at.clone(),
            changed: last.at.clone(),
            entries: entries
                .map(|entry| EntryView::of(log, investigation, entry))
                .collect(),
        })
    }
}

impl FigureView {
    /// A figure.
    pub fn of(measured: &Measured) -> Self {
        let show = |value| quantity(measured.unit, value);
        let ends = measured.range.map_or_else(String::new, |(low, high)| {
            format!(" [{}, {}]", show(low), show(high))
        });
        Self {
            unit: measured.unit,
            value: measured.value,
            low: measured.range.map(|(low, _)| low),
            high: measured.range.map(|(_, high)| high),
            text: format!("{}{ends}", show(measured.value)),
        }
    }
}

impl PredictionView {
    fn of(
        log: &Log<'_>,
        investigation: &Investigation,
        entry: &Entry,
        prediction: &Prediction,
    ) -> Self {
        let (low, high) = prediction.range();
        let symptom = investigation.symptom();
        Self {
            that: prediction.that().to_owned(),
            metric: prediction.target().text().to_owned(),
            unit: prediction.unit(),
            low,
            high,
            due: prediction.due.clone(),
            standing: standing(log, investigation, entry, prediction),
            held_in: held_before(investigation, entry),
            is_regression: symptom.is_some_and(|symptom| is_regression(prediction, symptom)),
        }
    }
}

impl EntryView {
    fn of(log: &Log<'_>, investigation: &Investigation, entry: &Entry) -> Self {
        let mut view = Self {
            id: entry.id.clone(),
            kind: entry.what.kind().to_owned(),
            at: entry.at.clone(),
            by: entry.by.clone(),
            text: entry.text.clone(),
            runs: entry.runs.clone(),
            links: entry.links.clone(),
            figures: entry.figures.clone(),
            sign: entry.sign.map(|sign| sign.word().to_owned()),
            cause: None,
            answers: Vec::new(),
            prediction: None,
            of: entry.what.of().map(str::to_owned),
            verdict: None,
            release: None,
            measured: None,
            residual: String::new(),
            confounded_by: Vec::new(),
            decides: None,
        };
        match &entry.what {
            What::Hypothesis(hypothesis) => {
                view.cause.clone_from(&hypothesis.cause);
                let answers = hypothesis.answers.iter();
                view.answers = answers.map(|one| one.word().to_owned()).collect();
                view.prediction = hypothesis
                    .prediction
                    .as_ref()
                    .map(|prediction| PredictionView::of(log, investigation, entry, prediction));
            }
            What::Experiment(trial) => {
                view.verdict = trial.verdict.map(|verdict| verdict.word().to_owned());
            }
            What::Outcome(outcome) => {
                view.verdict = Some(outcome.verdict.word().to_owned());
                view.release.clone_from(&outcome.release);
                view.measured = outcome.measured.as_ref().map(FigureView::of);
                view.confounded_by = confounded(log, investigation, outcome);
                view.residual = residual(investigation, &outcome.of, outcome.measured.as_ref());
            }
            What::Decision(decided) => {
                view.decides = Some(decided.decision.word().to_owned());
                view.release.clone_from(&decided.release);
            }
            What::Opened(symptom) => {
                view.measured = symptom.measured.as_ref().map(FigureView::of);
            }
            What::Observation | What::Reopening => {}
        }
        view
    }
}

/// How far the figure of the symptom moved, and what is left of it.
fn residual(investigation: &Investigation, of: &str, now: Option<&Measured>) -> String {
    let target: Option<&Target> = investigation.entry(of).and_then(|entry| match &entry.what {
        What::Hypothesis(hypothesis) => hypothesis.prediction.as_ref().map(Prediction::target),
        _ => None,
    });
    let (Some(symptom), Some(target), Some(now)) = (investigation.symptom(), target, now) else {
        return String::new();
    };
    let Some(then) = symptom.measured.filter(|then| {
        then.unit == now.unit && then.value > now.value && target.is(&symptom.metric)
    }) else {
        return String::new();
    };
    // More digits than the larger figure has say nothing of their difference.
    let step = 10_f64.powi(then.value.log10().floor() as i32 - DIGITS);
    let show = |value: f64| quantity(now.unit, (value / step).round() * step);
    format!(
        "explains {} of {}; {} are left",
        show(then.value - now.value),
        show(then.value),
        show(now.value)
    )
}
