//! The classes of users: how many they were, and what they asked for.

use slowpath_core::sample::{Outcome, Stage};
use slowpath_core::scenario::{Model, deal};

use crate::case::Case;
use crate::diagnosis::ClassFigures;
use crate::figures::round;

/// One entry a class, in the scenario's order; none for a run without classes.
pub(crate) fn classes(case: &Case<'_>) -> Vec<ClassFigures> {
    let scenario = &case.record.manifest.plan.scenario;
    let Model::Closed { users, .. } = scenario.load.model else {
        return Vec::new();
    };
    let shares: Vec<f64> = scenario.users.iter().map(|class| class.share).collect();
    let dealt = deal(&shares, users);
    let mut counts = vec![(0_u64, 0_u64); shares.len()];
    let measured = case.record.samples.iter();
    for sample in measured.filter(|sample| sample.stage() == Stage::Measured) {
        let class = dealt
            .get(sample.user() as usize)
            .copied()
            .unwrap_or_default();
        if let Some((requests, completed)) = counts.get_mut(usize::from(class)) {
            *requests += 1;
            *completed += u64::from(sample.outcome() == Outcome::Ok);
        }
    }
    let seconds = (case.measured_ns() as f64 / 1e9).max(f64::MIN_POSITIVE);
    let classes = scenario.users.iter().enumerate().zip(counts);
    classes
        .map(|((number, class), (requests, completed))| ClassFigures {
            name: class.name.clone(),
            users: dealt
                .iter()
                .filter(|&&one| usize::from(one) == number)
                .count() as u32,
            requests,
            rate_per_s: round(completed as f64 / seconds, 1e3),
        })
        .collect()
}
