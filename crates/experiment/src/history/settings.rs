//! Runs that were measured alike.

use slowpath_core::figures::RunFigures;

use crate::compare::{Difference, Part, differences};

/// The runs, parted by host and harness; the setting of the newest run first, each in order of
/// time.
pub(super) fn settings<'a>(runs: &[&'a RunFigures]) -> Vec<Vec<&'a RunFigures>> {
    let mut settings: Vec<Vec<&RunFigures>> = Vec::new();
    for run in runs.iter().rev() {
        let own = settings
            .iter_mut()
            .find(|of| crate::compare::is_alike(of[0], run));
        match own {
            Some(own) => own.push(run),
            None => settings.push(vec![run]),
        }
    }
    for of_setting in &mut settings {
        of_setting.reverse();
    }
    settings
}

/// What sets runs apart from the newest: differences of host and harness.
pub(super) fn differs(newest: &[&RunFigures], runs: &[&RunFigures]) -> Vec<Difference> {
    let last: Vec<&RunFigures> = runs.last().copied().into_iter().collect();
    let mut found = differences(newest, &last);
    let sets_apart =
        |d: &Difference| d.part == Part::Harness || (d.part == Part::Host && d.is_known());
    found.retain(sets_apart);
    found
}
