//! Changes of the system, and which of them a measurement cannot distinguish.

use slowpath_core::investigation::{Decision, Entry, What};

use super::Log;
use super::releases::Releases;

/// A change that a user entered.
#[derive(Debug)]
struct Change<'a> {
    investigation: &'a str,
    entry: &'a Entry,
    release: Option<&'a str>,
    /// Place of the first release with a measurement of it; `None` if none was measured yet.
    first: Option<usize>,
}

impl Change<'_> {
    /// Whether it is the same as another one: what helps two investigations is entered in both, in the
    /// same words and with the same release.
    fn is(&self, other: &Self) -> bool {
        let is_elsewhere = self.investigation != other.investigation;
        let is_alike = self.release == other.release && self.entry.text == other.entry.text;
        is_elsewhere && is_alike && self.release.is_some()
    }
}

/// All changes of a scenario, in all investigations.
fn changes<'a>(log: &Log<'a>, scenario: &str, releases: &Releases) -> Vec<Change<'a>> {
    let mut all = Vec::new();
    for investigation in log.investigations() {
        let symptom = investigation.symptom();
        if symptom.is_none_or(|symptom| symptom.scenario != scenario) {
            continue;
        }
        for entry in &investigation.entries {
            let What::Decision(decided) = &entry.what else {
                continue;
            };
            if decided.decision == Decision::Changed {
                all.push(Change {
                    investigation: &investigation.id,
                    entry,
                    release: decided.release.as_deref(),
                    first: match &decided.release {
                        Some(release) => releases.first_with(release, &entry.at),
                        None => releases.first_after(&entry.at),
                    },
                });
            }
        }
    }
    all
}

/// The changes that came in between the last measurement before a prediction and that of a release,
/// if there are several: whatever moved, one measurement does not say which of them did it. Each
/// as `INVESTIGATION/ENTRY`.
pub(super) fn confounding(
    log: &Log<'_>,
    scenario: &str,
    predicted_at: &str,
    release: &str,
) -> Vec<String> {
    let releases = log.releases(scenario);
    let Some(place) = releases.place(release) else {
        return Vec::new();
    };
    let is_new = |change: &Change<'_>| {
        change.first.is_some_and(|first| {
            first <= place && !releases.was_measured_before(releases.at(first), predicted_at)
        })
    };
    let all = changes(log, scenario, &releases);
    let mut under: Vec<&Change<'_>> = Vec::new();
    for change in all.iter().filter(|change| is_new(change)) {
        if !under.iter().any(|known| known.is(change)) {
            under.push(change);
        }
    }
    if under.len() < 2 {
        return Vec::new();
    }
    let names = under.into_iter();
    names
        .map(|change| format!("{}/{}", change.investigation, change.entry.id))
        .collect()
}
