//! A prediction compared with a run: whether the run is a test of it at all, what it says, and
//! whether an investigation is open again after that.

use std::cmp::Ordering;

use slowpath_core::figures::{Better, Figure, RunFigures};
use slowpath_core::gates::GateAnswer;
use slowpath_core::investigation::{
    Decided, Entry, Investigation, Measured, Prediction, Symptom, Target, Verdict, What,
};

use super::excuse::excuse;
use super::releases::{order, stays, to_the_second};
use super::standing::{Standing, changes_for, is_of_experiment, standing};
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
/// before the change that it is about, or before the release that it is due by; and a void run is no
/// measurement.
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
    if symptom.scenario != run.name
        || !run.void.is_empty()
        || outcomes.any(|(told, _)| told.runs.contains(&run.id))
    {
        return false;
    }
    let standing = standing(log, investigation, entry, prediction);
    let is_told = investigation.since_opened_last().iter().any(|told| {
        matches!(&told.what, What::Outcome(outcome)
            if outcome.of == entry.id && outcome.release.as_ref() == Some(release))
    });
    let is_watched = standing == Standing::Held && status(investigation).0.is_fixed() && !is_told;
    if is_of_experiment(investigation, entry) || !(standing.is_open() || is_watched) {
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
        // Names without an order, and those that move on (of branches), are ordered by time.
        let ordered = decided.release.as_deref();
        match ordered.filter(|own| stays(own) && order(release, own).is_some()) {
            Some(own) => is_from(own),
            None => began >= change.at,
        }
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
    let is_known = match measured_alike(log, investigation, entry, run) {
        Ok(is_known) => is_known,
        Err(why) => return none(why),
    };
    let alike = of_release(log, investigation, entry, prediction, run);
    let (judged, judged_runs) = if alike.len() < RUNS_FEWEST {
        (run.clone(), &[run][..])
    } else {
        (over_runs(&alike, run), &alike[..])
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
    if judged_runs.len() > 1 {
        text = text.replace("repeats", "runs");
    }
    if !is_known {
        text.push_str(
            "; no run is named on which it was predicted, so whether it was measured alike is not \
             known",
        );
    }
    let range = outcome.low.zip(outcome.high);
    let measured = outcome.value.filter(|value| value.is_finite());
    let mut verdict = match outcome.answer {
        GateAnswer::Holds => Verdict::Held,
        GateAnswer::Fails => Verdict::Failed,
        GateAnswer::CannotTell => Verdict::Undecided,
    };
    let then = stored(log, cited(investigation, entry));
    let excused = measured.and_then(|value| excuse(prediction, value, &then, judged_runs));
    if let Some(why) = excused.filter(|_| verdict == Verdict::Failed) {
        verdict = Verdict::Undecided;
        text = format!("{text}; {why}");
    }
    Checked {
        verdict,
        measured: measured.map(|value| Measured {
            unit: prediction.unit(),
            value,
            range: range
                .filter(|(low, high)| low.is_finite() && high.is_finite())
                .map(|(low, high)| (low.max(0.0), high)),
        }),
        runs: judged_runs.iter().map(|run| run.id.clone()).collect(),
        text,
    }
}

/// Whether a run was measured as one on which the prediction was made; `false` if no run is named, so
/// that it is not known.
///
/// # Errors
/// Why it is not comparable.
fn measured_alike(
    log: &Log<'_>,
    investigation: &Investigation,
    entry: &Entry,
    run: &RunFigures,
) -> Result<bool, String> {
    let cited = cited(investigation, entry);
    let Some(first) = cited.first() else {
        return Ok(false);
    };
    let references = stored(log, cited);
    let Some(reference) = references.first() else {
        return Err(format!(
            "run {first}, on which it was predicted, is not stored here, so whether this was \
             measured as that was is not known; bring its folder here and measure again"
        ));
    };
    if references.iter().any(|other| is_alike(other, run)) {
        return Ok(true);
    }
    let why = obstacles(&differences(&[*reference], &[run]));
    Err(format!(
        "measured in another way than run {}, on which it was predicted: {}",
        reference.id,
        why.join(", ")
    ))
}

/// The runs on which a prediction was made: its own, or else those of the symptom.
fn cited<'a>(investigation: &'a Investigation, entry: &'a Entry) -> &'a [String] {
    let opened = investigation.opened().map(|(opened, _)| &opened.runs);
    let own = Some(&entry.runs).filter(|runs| !runs.is_empty());
    own.or(opened).map_or(&[], Vec::as_slice)
}

fn stored<'a>(log: &Log<'a>, ids: &[String]) -> Vec<&'a RunFigures> {
    let stored = log.runs.iter().copied();
    stored.filter(|run| ids.contains(&run.id)).collect()
}

/// The sound runs of the release of a run that test the prediction too and were measured as it was;
/// it is the last of them. Those from before the change are of another system, whatever the release
/// is called.
fn of_release<'a>(
    log: &Log<'a>,
    investigation: &Investigation,
    entry: &Entry,
    prediction: &Prediction,
    run: &'a RunFigures,
) -> Vec<&'a RunFigures> {
    let releases = log.releases(&run.name);
    let tests = |other: &RunFigures| {
        let release = other.release.as_deref();
        release.is_some_and(|release| {
            is_tested_by(investigation, entry, prediction, other, release, &releases)
        })
    };
    let mut all = log.runs_of(&run.name);
    all.retain(|other| {
        other.id != run.id
            && other.release == run.release
            && other.void.is_empty()
            && tests(other)
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
    let held = investigation.held_since(hypothesis);
    let why = match status(investigation).0 {
        status if status.is_fixed() && held => "what was fixed is back",
        status if status.is_fixed() => "the fix did not move its target",
        Status::Explained => "the explanation does not hold",
        _ => return None,
    };
    let that = prediction.that();
    Some(format!("{why}: predicted was {that}, and {}", checked.text))
}

/// What sound runs say of a figure, for the symptom of an investigation; `None` if they do not have
/// it.
pub fn figure_of(runs: &[&RunFigures], target: &Target) -> Option<Measured> {
    let runs: Vec<&RunFigures> = runs
        .iter()
        .copied()
        .filter(|run| run.void.is_empty())
        .collect();
    let metric = target.metric();
    let unit = runs
        .iter()
        .find_map(|run| row(run, target.subject(), &metric))?
        .unit;
    let estimate = Units::of(&runs, target.subject(), &metric).estimate();
    Some(Measured {
        unit,
        value: estimate.value.filter(|value| *value >= 0.0)?,
        range: estimate
            .low
            .zip(estimate.high)
            .map(|(low, high)| (low.max(0.0), high)),
    })
}
