//! How often we were right: predicted intervals that held, named causes that were confirmed.

use serde::{Deserialize, Serialize};
use slowpath_core::investigation::{BY_SLOWPATH, Investigation, Tested, Verdict, What};
use slowpath_core::stats::beta::clopper_pearson;
use slowpath_core::stats::median::median;

use super::Log;
use super::standing::{confounded, is_of_experiment, standing};

/// How often something happened, of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// How often it did.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
    /// Lower end of the exact 95 % interval of the share.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Rate {
    fn of(all: &[bool]) -> Self {
        let (hits, of) = (
            all.iter().filter(|hit| **hit).count() as u64,
            all.len() as u64,
        );
        let (low, high) = clopper_pearson(hits, of);
        Self {
            hits,
            of,
            low,
            high,
        }
    }
}

/// How often we were right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// Predictions that held, of those that were settled by a measurement of one change. The first
    /// verdict counts: later releases have other changes.
    pub predictions: Rate,
    /// The same of those that slowpath made by itself.
    pub by_slowpath: Rate,
    /// The same of those that people made.
    pub by_people: Rate,
    /// Upper end over lower end of the predicted intervals of those that were settled, in the
    /// median: wide ones hold easily. `null` without any above 0.
    pub width: Option<f64>,
    /// Settled ones that do not count, since several changes came under one measurement.
    pub confounded: u64,
    /// Those that still wait.
    pub open: u64,
    /// Those of them that should have been measured by now.
    pub overdue: u64,
    /// Named causes that were confirmed, by an experiment or else by a prediction that held, of
    /// those that were confirmed or refuted.
    pub causes: Rate,
    /// Named causes of which nothing is known yet.
    pub causes_open: u64,
}

impl Calibration {
    /// That of a log.
    pub(super) fn of(log: &Log<'_>) -> Self {
        let mut counted = Counted::default();
        for investigation in log.investigations() {
            counted.predictions(log, investigation);
            counted.causes(log, investigation);
        }
        let of = |slowpath: bool| {
            let of = counted.settled.iter().filter(|one| one.0 == slowpath);
            Rate::of(&of.map(|one| one.1).collect::<Vec<bool>>())
        };
        let all: Vec<bool> = counted.settled.iter().map(|one| one.1).collect();
        Self {
            predictions: Rate::of(&all),
            by_slowpath: of(true),
            by_people: of(false),
            width: median(&mut counted.widths),
            confounded: counted.confounded,
            open: counted.open,
            overdue: counted.overdue,
            causes: Rate::of(&counted.causes),
            causes_open: counted.causes_open,
        }
    }
}

#[derive(Debug, Default)]
struct Counted {
    /// Whether slowpath made it, and whether it held.
    settled: Vec<(bool, bool)>,
    widths: Vec<f64>,
    confounded: u64,
    open: u64,
    overdue: u64,
    causes: Vec<bool>,
    causes_open: u64,
}

impl Counted {
    fn predictions(&mut self, log: &Log<'_>, investigation: &Investigation) {
        for (entry, prediction) in investigation.predictions() {
            let standing = standing(log, investigation, entry, prediction);
            let is_open = standing.is_open() && !is_of_experiment(investigation, entry);
            self.open += u64::from(is_open);
            self.overdue += u64::from(standing == super::Standing::Overdue);
            let mut outcomes = investigation.outcomes(&entry.id);
            let Some((_, first)) = outcomes.find(|(_, outcome)| outcome.verdict.settles()) else {
                continue;
            };
            if !confounded(log, investigation, first).is_empty() {
                self.confounded += 1;
                continue;
            }
            let own = entry.by.as_deref() == Some(BY_SLOWPATH);
            self.settled.push((own, first.verdict == Verdict::Held));
            let (low, high) = prediction.range();
            if low > 0.0 {
                self.widths.push(high / low);
            }
        }
    }

    fn causes(&mut self, log: &Log<'_>, investigation: &Investigation) {
        for entry in &investigation.entries {
            let What::Hypothesis(hypothesis) = &entry.what else {
                continue;
            };
            if hypothesis.cause.is_none() {
                continue;
            }
            match is_confirmed(log, investigation, &entry.id) {
                Some(is) => self.causes.push(is),
                None => self.causes_open += 1,
            }
        }
    }
}

/// Whether the cause of a hypothesis was confirmed: by its last experiment that said so or not, or
/// else by a prediction that held and is not confounded. A prediction that failed may have the
/// size wrong and the cause right, and refutes none.
fn is_confirmed(log: &Log<'_>, investigation: &Investigation, hypothesis: &str) -> Option<bool> {
    let tests = investigation.entries.iter().filter_map(|entry| {
        let What::Experiment(trial) = &entry.what else {
            return None;
        };
        let own = trial.of.as_deref() == Some(hypothesis);
        trial.verdict.filter(|_| own)
    });
    let tests: Vec<Tested> = tests.filter(|test| *test != Tested::Undecided).collect();
    if let Some(test) = tests.last() {
        return Some(*test == Tested::Confirmed);
    }
    let held = investigation.outcomes(hypothesis).any(|(_, outcome)| {
        outcome.verdict == Verdict::Held && confounded(log, investigation, outcome).is_empty()
    });
    held.then_some(true)
}
