//! A model of the target from a run's own times.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome, Sample};

/// A key is expensive when asking for it first takes this many times the median of the others:
/// below it the two may be one population (a queue of two doubles a time).
const EXPENSIVE_FROM: f64 = 3.0;
/// Times taken while nothing else was under way are free of queueing; that many of them are
/// enough to do without the others.
const ENOUGH_ALONE: usize = 10;

/// What the answers of a run took: for each endpoint the times of keys that had been asked for
/// before, and, where first touches are a class of their own, what those took on top.
///
/// Slots are not known from a run. Times are those of service, not from the schedule, yet hold
/// whatever queueing the target itself had.
///
/// Returns `None` for a run without a single answer.
pub fn model_of(record: &RunRecord) -> Option<TargetModel> {
    let endpoints = &record.manifest.plan.scenario.endpoints;
    let known: Vec<EndpointModel> = endpoints
        .iter()
        .enumerate()
        .filter_map(|(i, endpoint)| of_answers(&endpoint.name, &answers(record, i as u16)))
        .collect();
    let latency = known.first()?.latency.clone();
    Some(TargetModel {
        slots: None,
        singleflight: false,
        latency,
        endpoints: known,
    })
}

/// An answer: its key if it has one, how long it took, whether it was alone.
struct Answer {
    key: u32,
    service_ns: u64,
    alone: bool,
    first: bool,
}

fn of_answers(name: &str, answers: &[Answer]) -> Option<EndpointModel> {
    let (first, later): (Vec<&Answer>, Vec<&Answer>) =
        answers.iter().partition(|answer| answer.first);
    // Keys that are never asked for twice have no second class to compare with.
    let base = if later.is_empty() { &first } else { &later };
    let latency = times(base)?;
    let median = latency[latency.len() / 2];
    let expensive: BTreeMap<u32, bool> = first
        .iter()
        .map(|a| (a.key, a.service_ns as f64 >= EXPENSIVE_FROM * median as f64))
        .collect();
    let costly: Vec<&Answer> = first
        .iter()
        .filter(|a| expensive[&a.key])
        .copied()
        .collect();
    let on_top = times(&costly).filter(|_| !later.is_empty());
    let backend = on_top.map(|times| {
        let on_top = |ns: u64| ns.saturating_sub(median).max(1);
        Times::Measured(times.into_iter().map(on_top).collect())
    });
    let count = expensive.values().filter(|expensive| **expensive).count();
    Some(EndpointModel {
        name: name.to_owned(),
        latency: Times::Measured(latency),
        backend,
        cached: true,
        ttl_ns: None,
        expensive: Expensive::Share(count as f64 / expensive.len().max(1) as f64),
    })
}

fn answers(record: &RunRecord, endpoint: u16) -> Vec<Answer> {
    let fresh = record.manifest.plan.scenario.load.fresh;
    let mut own: Vec<&Sample> = record
        .samples
        .iter()
        .filter(|s| s.endpoint == endpoint && s.outcome == Outcome::Ok && s.sent.is_some())
        .collect();
    own.sort_by_key(|s| (s.repeat, s.sent));
    let mut seen: BTreeSet<(u16, u32)> = BTreeSet::new();
    own.into_iter()
        .filter_map(|sample| {
            let repeat = if fresh { sample.repeat } else { 0 };
            let keyed = sample.key != NONE;
            Some(Answer {
                key: sample.key,
                service_ns: sample.done.since(sample.sent?),
                alone: sample.in_flight == 0,
                first: keyed && seen.insert((repeat, sample.key)),
            })
        })
        .collect()
}

/// The times of some answers, sorted: of those that were alone where there are enough.
fn times(answers: &[&Answer]) -> Option<Vec<u64>> {
    let of = |alone: bool| -> Vec<u64> {
        let some = answers.iter().filter(|a| a.alone || !alone);
        some.map(|a| a.service_ns).collect()
    };
    let alone = of(true);
    let mut chosen = if alone.len() >= ENOUGH_ALONE {
        alone
    } else {
        of(false)
    };
    chosen.sort_unstable();
    (!chosen.is_empty()).then_some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn answer(key: u32, ms: u64, first: bool) -> Answer {
        Answer {
            key,
            service_ns: ms * MS,
            alone: true,
            first,
        }
    }

    #[test]
    fn slow_first_touches_are_computed_and_the_others_are_cheap() {
        let mut answers: Vec<Answer> = (0..4).map(|key| answer(key, 500, true)).collect();
        answers.extend((4..20).map(|key| answer(key, 21, true)));
        answers.extend((0..40).map(|i| answer(i % 20, 20, false)));
        let model = of_answers("a", &answers).expect("it was answered");
        assert_eq!(model.expensive, Expensive::Share(0.2));
        assert_eq!(model.backend, Some(Times::Measured(vec![480 * MS; 4])));
        assert_eq!(model.latency, Times::Measured(vec![20 * MS; 40]));
    }

    #[test]
    fn first_touches_like_the_others_need_no_backend() {
        let mut answers: Vec<Answer> = (0..20).map(|key| answer(key, 25, true)).collect();
        answers.extend((0..20).map(|key| answer(key, 20, false)));
        let model = of_answers("a", &answers).expect("it was answered");
        assert_eq!(model.backend, None);
        assert_eq!(model.expensive, Expensive::Share(0.0));
        assert_eq!(of_answers("a", &[]), None);
    }

    #[test]
    fn times_without_queueing_are_preferred() {
        let mut answers: Vec<Answer> = (0..10).map(|_| answer(NONE, 20, false)).collect();
        let queued = (0..10).map(|_| Answer {
            alone: false,
            ..answer(NONE, 90, false)
        });
        answers.extend(queued);
        let model = of_answers("a", &answers).expect("it was answered");
        assert_eq!(model.latency, Times::Measured(vec![20 * MS; 10]));
        answers.remove(0);
        let model = of_answers("a", &answers).expect("it was answered");
        let all = [vec![20 * MS; 9], vec![90 * MS; 10]].concat();
        assert_eq!(model.latency, Times::Measured(all));
    }
}
