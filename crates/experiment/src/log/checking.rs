//! A prediction held against a run: whether the run is a test of it at all, what it says, and
//! whether an investigation is open again after that.

use std::cmp::Ordering;

use slowpath_core::figures::{Better, Figure, RunFigures};
use slowpath_core::gates::GateAnswer;
use slowpath_core::investigation::{
    Decided, Decision, Entry, Investigation, Measured, Prediction, Symptom, Target, Verdict, What,
};

use super::releases::{order, to_the_second};
use super::standing::{Standing, standing};
use super::status::{Status, status};
use super::{Log, Releases};
use crate::compare::{differences, is_alike, obstacles};
use crate::estimate::{Units, of_run, row};
use crate::gate::judge_gates;

/// From so many runs of a release on, runs are what scatters, and not the repeats of one of them:
/// two have an interval that says nothing.
const RUNS_FEWEST: usize = 3;

/// What a run said of a prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// What became of it.
    pub verdict: Verdict,
    /// The figure, if there was one.
    pub measured: Option<Measured>,
    /// The runs that it rests on.
    pub runs: Vec<String>,
    /// One sentence: the figure, what it rests on, and what it would take to know better.
    pub text: String,
}

/// Whether a run tests a prediction that nothing has settled yet, or one that held and that a fix
/// rests on. A release that was measured before the prediction was made is no test of it, nor is one
/// before the change that it is about, or before the release that it is due by.
pub fn is_to_be_checked(
    log: &Log<'_>,
    investigation: &Investigation,
    entry: &Entry,
    prediction: &Prediction,
    run: &RunFigures,
) -> bool {
    let (Some(symptom), Some(release)) = (investigation.symptom(), &run.release) else {
        return false;
    };
    let mut outcomes = investigation.outcomes(&entry.id);
    if symptom.scenario != run.name || outcomes.any(|(told, _)| told.runs.contains(&run.id)) {
        return false;
    }
    let standing = standing(log, investigation, entry, prediction);
    let mut outcomes = investigation.outcomes(&entry.id);
    let is_watched = standing == Standing::Held
        && status(investigation).0.is_fixed()
        && !outcomes.any(|(_, outcome)| outcome.release.as_ref() == Some(release));
    if !standing.is_open() && !is_watched {
        return false;
    }
    let releases = log.releases(&symptom.scenario);
    is_tested_by(investigation, entry, prediction, run, release, &releases)
}

fn is_tested_by(
    investigation: &Investigation,
    entry: &Entry,
    prediction: &Prediction,
    run: &RunFigures,
    release: &str,
    releases: &Releases,
) -> bool {
    let began = to_the_second(&run.began);
    if began < entry.at || releases.was_measured_before(release, &entry.at) {
        return false;
    }
    let is_from = |first: &str| order(release, first).is_some_and(|order| order != Ordering::Less);
    let changes: Vec<(&Entry, &Decided)> = changes_for(investigation, &entry.id).collect();
    if changes.is_empty() {
        return prediction.due.as_deref().is_none_or(is_from);
    }
    changes.iter().any(|(change, decided)| {
        // Names without an order (commits) are told apart by time.
        let ordered = decided.release.as_deref();
        match ordered.filter(|own| order(release, own).is_some()) {
            Some(own) => is_from(own),
            None => began >= change.at,
        }
    })
}

/// The changes that were made for the sake of a hypothesis.
fn changes_for<'a>(
    investigation: &'a Investigation,
    hypothesis: &'a str,
) -> impl Iterator<Item = (&'a Entry, &'a Decided)> {
    investigation
        .entries
        .iter()
        .filter_map(move |entry| match &entry.what {
            What::Decision(decided)
                if decided.decision == Decision::Changed
                    && decided.of.as_deref() == Some(hypothesis) =>
            {
                Some((entry, decided))
            }
            _ => None,
        })
}

/// Holds a prediction against a run, with the other runs of its release where there are enough.
pub fn check(
    log: &Log<'_>,
    investigation: &Investigation,
    entry: &Entry,
    prediction: &Prediction,
    run: &RunFigures,
) -> Checked {
    let none = |text: String| Checked {
        verdict: Verdict::NotComparable,
        measured: None,
        runs: vec![run.id.clone()],
        text,
    };
    if let Some(why) = run.void.first() {
        return none(format!("the run is void: {why}"));
    }
    let references = references(log, investigation, entry);
    let unlike = references.first().filter(|_| {
        let mut all = references.iter();
        !all.any(|reference| is_alike(reference, run))
    });
    if let Some(reference) = unlike {
        let why = obstacles(&differences(&[*reference], &[run]));
        return none(format!(
            "measured in another way than run {}, on which it was predicted: {}",
            reference.id,
            why.join(", ")
        ));
    }
    let alike = of_release(log, run);
    let (judged, runs) = if alike.len() < RUNS_FEWEST {
        (run.clone(), vec![run.id.clone()])
    } else {
        let ids = alike.iter().map(|one| one.id.clone()).collect();
        (over_runs(&alike, run), ids)
    };
    let gates = judge_gates(&[prediction.gate()], &judged, None);
    let Some(outcome) = gates.into_iter().next() else {
        return none("nothing was predicted".to_owned());
    };
    let target = prediction.target();
    let own = row(&judged, target.subject(), &target.metric());
    if let Some(row) = own.filter(|row| row.unit != prediction.unit()) {
        return none(format!("{} is measured in another unit", row.name()));
    }
    let mut text = outcome.text;
    if !outcome.takes.is_empty() {
        text = format!("{text}; to know it takes {}", outcome.takes);
    }
    if runs.len() > 1 {
        text = text.replace("repeats", "runs");
    }
    if references.is_empty() {
        text.push_str(
            "; the runs on which it was predicted are not stored here, so whether it was measured \
             alike is not known",
        );
    }
    let range = outcome.low.zip(outcome.high);
    let measured = outcome.value.filter(|value| value.is_finite());
    Checked {
        verdict: match outcome.answer {
            GateAnswer::Holds => Verdict::Held,
            GateAnswer::Fails => Verdict::Failed,
            GateAnswer::CannotTell => Verdict::Undecided,
        },
        measured: measured.map(|value| Measured {
            unit: prediction.unit(),
            value,
            range: range
                .filter(|(low, high)| low.is_finite() && high.is_finite())
                .map(|(low, high)| (low.max(0.0), high)),
        }),
        runs,
        text,
    }
}

/// The stored runs on which a prediction was made: its own, or else those of the symptom.
fn references<'a>(
    log: &Log<'a>,
    investigation: &Investigation,
    entry: &Entry,
) -> Vec<&'a RunFigures> {
    let opened = investigation.opened().map(|(opened, _)| &opened.runs);
    let ids = Some(&entry.runs).filter(|runs| !runs.is_empty()).or(opened);
    let mut all = log.runs.iter().collect::<Vec<_>>();
    all.retain(|run| ids.is_some_and(|ids| ids.contains(&run.id)));
    all
}

/// The sound runs of the release of a run that were measured as it was; it is the last of them.
fn of_release<'a>(log: &Log<'a>, run: &'a RunFigures) -> Vec<&'a RunFigures> {
    let mut all = log.runs_of(&run.name);
    all.retain(|other| {
        other.id != run.id
            && other.release == run.release
            && other.void.is_empty()
            && is_alike(other, run)
    });
    all.push(run);
    all
}

/// Several runs as one whose repeats they are: repeats of one run scatter less than runs do.
fn over_runs(runs: &[&RunFigures], newest: &RunFigures) -> RunFigures {
    let mut all = newest.clone();
    for one in &mut all.rows {
        let values = runs.iter().filter_map(|run| {
            let own = row(run, &one.subject, &one.metric)?;
            of_run(own)
        });
        one.repeats = values.map(Figure::of).collect();
        one.whole = None;
    }
    all
}

/// Whether a prediction says that it gets worse than it was.
pub fn is_regression(prediction: &Prediction, symptom: &Symptom) -> bool {
    let same = prediction.target().is(&symptom.metric);
    let Some(then) = symptom.measured.filter(|_| same) else {
        return false;
    };
    let (low, high) = prediction.range();
    match prediction.unit().better() {
        _ if then.unit != prediction.unit() => false,
        Better::Lower => low > then.value,
        Better::Higher => high < then.value,
        Better::Neither => false,
    }
}

/// Why an investigation is open again after one of its predictions was checked; `None` if it is
/// as it was.
pub fn reopening(
    investigation: &Investigation,
    hypothesis: &str,
    prediction: &Prediction,
    checked: &Checked,
) -> Option<String> {
    if checked.verdict != Verdict::Failed {
        return None;
    }
    let mut outcomes = investigation.outcomes(hypothesis);
    let held = outcomes.any(|(_, outcome)| outcome.verdict == Verdict::Held);
    let why = match status(investigation).0 {
        status if status.is_fixed() && held => "what was fixed is back",
        status if status.is_fixed() => "the fix did not move its target",
        Status::Explained => "the explanation does not hold",
        _ => return None,
    };
    let that = prediction.that();
    Some(format!("{why}: predicted was {that}, and {}", checked.text))
}

/// What runs say of a figure, for the symptom of an investigation; `None` if they do not have it.
pub fn figure_of(runs: &[&RunFigures], target: &Target) -> Option<Measured> {
    let metric = target.metric();
    let unit = runs
        .iter()
        .find_map(|run| row(run, target.subject(), &metric))?
        .unit;
    let estimate = Units::of(runs, target.subject(), &metric).estimate();
    Some(Measured {
        unit,
        value: estimate.value.filter(|value| *value >= 0.0)?,
        range: estimate
            .low
            .zip(estimate.high)
            .map(|(low, high)| (low.max(0.0), high)),
    })
}
