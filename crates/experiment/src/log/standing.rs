//! What became of a prediction.

use serde::{Deserialize, Serialize};
use slowpath_core::investigation::{
    BY_SLOWPATH, Decided, Decision, Entry, Investigation, Outcome, Prediction, Verdict, What,
};

use super::Log;
use super::changes::confounding;
use super::status::status;

/// What became of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It waits for a measurement.
    Open,
    /// It should have been measured by now.
    Overdue,
    /// It was measured, and the figure is not known well enough.
    Undecided,
    /// It was measured in another way than what it was made on.
    NotComparable,
    /// What was predicted was measured.
    Held,
    /// Something else was measured.
    Failed,
    /// It is no longer waited for: the investigation was closed without it.
    Dropped,
}

impl Standing {
    /// The words of reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Overdue => "overdue",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::Held => "held",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }

    /// Whether a measurement is waited for.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Open | Self::Overdue | Self::Undecided | Self::NotComparable
        )
    }
}

/// The changes that were made for the sake of a hypothesis.
pub(super) fn changes_for<'a>(
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

/// Whether a hypothesis was made for an experiment and nothing was changed for its sake: what it
/// predicts is what the intervention does, which no release shows.
pub(super) fn is_of_experiment(investigation: &Investigation, entry: &Entry) -> bool {
    let is_own = entry.by.as_deref() == Some(BY_SLOWPATH);
    is_own && changes_for(investigation, &entry.id).next().is_none()
}

/// The last outcome that settled a prediction; otherwise the last one. Once a change was made for
/// the sake of what an experiment showed, a release has to show it as well.
pub(super) fn last<'a>(
    investigation: &'a Investigation,
    hypothesis: &'a Entry,
) -> Option<(&'a Entry, &'a Outcome)> {
    let of_releases = hypothesis.by.as_deref() == Some(BY_SLOWPATH)
        && !is_of_experiment(investigation, hypothesis);
    let all = investigation.outcomes(&hypothesis.id);
    let all: Vec<_> = all
        .filter(|(_, outcome)| !of_releases || outcome.release.is_some())
        .collect();
    let settled = all.iter().rfind(|(_, outcome)| outcome.verdict.settles());
    settled.or(all.last()).copied()
}

/// The last release in which a prediction held, where its last word is that it failed.
pub(super) fn held_before(investigation: &Investigation, hypothesis: &Entry) -> Option<String> {
    last(investigation, hypothesis).filter(|(_, outcome)| outcome.verdict == Verdict::Failed)?;
    let all: Vec<_> = investigation.outcomes(&hypothesis.id).collect();
    let held = all
        .iter()
        .rfind(|(_, outcome)| outcome.verdict == Verdict::Held);
    held.and_then(|(_, outcome)| outcome.release.clone())
}

/// What became of a prediction.
pub(super) fn standing(
    log: &Log<'_>,
    investigation: &Investigation,
    entry: &Entry,
    prediction: &Prediction,
) -> Standing {
    let last = last(investigation, entry).map(|(_, outcome)| outcome.verdict);
    match last {
        Some(Verdict::Held) => return Standing::Held,
        Some(Verdict::Failed) => return Standing::Failed,
        _ => {}
    }
    if !status(investigation).0.awaits() {
        return Standing::Dropped;
    }
    if overdue_since(log, investigation, prediction).is_some() {
        return Standing::Overdue;
    }
    match last {
        Some(Verdict::Undecided) => Standing::Undecided,
        Some(Verdict::NotComparable) => Standing::NotComparable,
        _ => Standing::Open,
    }
}

/// The release that a prediction was due by, or a later one, if it was measured.
pub(super) fn overdue_since(
    log: &Log<'_>,
    investigation: &Investigation,
    prediction: &Prediction,
) -> Option<String> {
    let scenario = &investigation.symptom()?.scenario;
    let releases = log.releases(scenario);
    let due = prediction.due.as_deref()?;
    releases.reached(due).map(str::to_owned)
}

/// The changes that an outcome cannot distinguish; empty if it can.
pub(super) fn confounded(
    log: &Log<'_>,
    investigation: &Investigation,
    outcome: &Outcome,
) -> Vec<String> {
    let (Some(symptom), Some(predicted), Some(release)) = (
        investigation.symptom(),
        investigation.entry(&outcome.of),
        &outcome.release,
    ) else {
        return Vec::new();
    };
    confounding(log, &symptom.scenario, &predicted.at, release)
}
