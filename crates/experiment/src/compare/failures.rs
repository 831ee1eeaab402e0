//! Classes of failures that appeared or vanished.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_core::figures::RunFigures;

/// A class of failures that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureChange {
    /// The endpoint or the benchmark.
    pub subject: String,
    /// The class: what happened, and in which phase.
    pub class: String,
    /// Whether it is in B; otherwise it is in A.
    pub appeared: bool,
    /// How often, over all runs of the side with it.
    pub count: u64,
    /// Its share of what was offered there.
    pub share: f64,
    /// In how many runs of that side.
    pub runs: u64,
    /// Of how many.
    pub of_runs: u64,
}

/// What a side has of one class: count, share summed over runs, runs.
type Seen<'a> = BTreeMap<(&'a str, &'a str), (u64, f64, u64)>;

/// The classes that only one side has, those that appeared first, the most frequent first.
pub(super) fn changes(a: &[&RunFigures], b: &[&RunFigures]) -> Vec<FailureChange> {
    let (of_a, of_b) = (seen(a), seen(b));
    let mut changes = Vec::new();
    for (appeared, own, other, runs) in [(true, &of_b, &of_a, b), (false, &of_a, &of_b, a)] {
        let new = own.iter().filter(|(class, _)| !other.contains_key(*class));
        let mut new: Vec<FailureChange> = new
            .map(|(&(subject, class), &(count, share, of))| FailureChange {
                subject: subject.to_owned(),
                class: class.to_owned(),
                appeared,
                count,
                share: share / runs.len() as f64,
                runs: of,
                of_runs: runs.len() as u64,
            })
            .collect();
        new.sort_by_key(|change| std::cmp::Reverse(change.count));
        changes.extend(new);
    }
    changes
}

fn seen<'a>(runs: &[&'a RunFigures]) -> Seen<'a> {
    let mut seen = Seen::new();
    for failure in runs.iter().flat_map(|run| &run.failures) {
        let class = (failure.subject.as_str(), failure.class.as_str());
        let entry = seen.entry(class).or_default();
        entry.0 += failure.count;
        entry.1 += failure.share;
        entry.2 += 1;
    }
    seen
}
