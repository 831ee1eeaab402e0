//! A model of the target from a run's own times.

use std::collections::BTreeSet;

use slowpath_core::model::{EndpointModel, Expensive, TargetModel, Times};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome};
use slowpath_core::samples::SampleRef;

/// A key is expensive when asking for it first takes this many times the median of the others:
/// below it the two may be one population (a queue of two doubles a time).
const EXPENSIVE_FROM: f64 = 3.0;
/// Times taken while nothing else was under way are free of queueing; that many of them are
/// enough to do without the others.
const ENOUGH_ALONE: usize = 10;

/// Requests under way in the backend, beyond those that it can have worked on, from which on the
/// others must have waited.
const WAITING_FROM: f64 = 1.5;

/// What the answers of a run took: for each endpoint the times of keys that had been asked for
/// before, and, where first touches are a class of their own, what those took on top.
///
/// Slots are estimated: while computed answers were under way, `n` of them that need `S` each were
/// done in a busy time `B`, so that `n S / B` were worked on at once; if clearly more were under
/// way, the others waited. `S` is taken from those that overlapped with no other.
///
/// Returns `None` for a run without a single answer.
pub fn model_of(record: &RunRecord) -> Option<TargetModel> {
    let endpoints = record.manifest.plan.scenario.endpoints.iter();
    let answered: Vec<(&str, Vec<Answer>)> = (0..)
        .zip(endpoints)
        .map(|(i, endpoint)| (endpoint.name.as_str(), answers(record, i)))
        .collect();
    of_all(&answered)
}

fn of_all(answered: &[(&str, Vec<Answer>)]) -> Option<TargetModel> {
    let mut stretches: Vec<(u64, u64)> = answered
        .iter()
        .flat_map(|(_, answers)| computed(answers))
        .map(|answer| (answer.begin_ns, answer.begin_ns + answer.service_ns))
        .collect();
    stretches.sort_unstable();
    let busy = Busy::of(&stretches);
    let known: Vec<EndpointModel> = answered
        .iter()
        .filter_map(|(name, answers)| of_answers(name, answers, &busy))
        .collect();
    let latency = known.first()?.latency.clone();
    let backend = known
        .iter()
        .filter_map(|e| Some((e.backend.as_ref()?, &e.latency)));
    let services: Vec<f64> = backend.map(|(b, l)| b.mean_ns() + l.mean_ns()).collect();
    let service_ns = services.iter().sum::<f64>() / services.len().max(1) as f64;
    // What took less than half of that was slow for another reason.
    stretches.retain(|(begin, end)| (end - begin) as f64 >= service_ns / 2.0);
    Some(TargetModel {
        slots: slots(&stretches, service_ns),
        singleflight: false,
        latency,
        endpoints: known,
    })
}

/// An answer: its key if it has one, when it was sent, how long it took, whether it was alone.
struct Answer {
    key: u32,
    begin_ns: u64,
    service_ns: u64,
    alone: bool,
    first: bool,
}

/// The times of answers that were not computed, sorted.
fn base(answers: &[Answer]) -> Option<Vec<u64>> {
    let later: Vec<&Answer> = answers.iter().filter(|answer| !answer.first).collect();
    // Keys that are never asked for twice have no second class to compare with.
    let all = || answers.iter().collect::<Vec<_>>();
    times(&if later.is_empty() { all() } else { later })
}

/// The answers that took so long that they must have been computed.
fn computed(answers: &[Answer]) -> Vec<&Answer> {
    let Some(base) = base(answers).filter(|_| answers.iter().any(|a| !a.first)) else {
        return Vec::new();
    };
    let median = base[base.len() / 2] as f64;
    let slow = |answer: &&Answer| answer.service_ns as f64 >= EXPENSIVE_FROM * median;
    if !answers.iter().filter(slow).any(|answer| answer.first) {
        return Vec::new();
    }
    answers.iter().filter(slow).collect()
}

fn of_answers(name: &str, answers: &[Answer], busy: &Busy) -> Option<EndpointModel> {
    let latency = base(answers)?;
    let median = latency[latency.len() / 2];
    let slow = computed(answers);
    let keys: BTreeSet<u32> = answers.iter().filter(|a| a.first).map(|a| a.key).collect();
    let costly: Vec<&Answer> = slow.iter().filter(|a| a.first).copied().collect();
    let costly_keys: BTreeSet<u32> = costly.iter().map(|a| a.key).collect();
    // A time that overlapped with no other computation holds no waiting for one.
    let by_itself: Vec<u64> = costly
        .iter()
        .filter(|a| busy.is_alone(a.begin_ns, a.begin_ns + a.service_ns))
        .map(|a| a.service_ns)
        .collect();
    let least = || costly.iter().map(|a| a.service_ns).min();
    let pure = if by_itself.is_empty() {
        least().into_iter().collect()
    } else {
        by_itself
    };
    let on_top = |ns: u64| ns.saturating_sub(median).max(1);
    let mut on_top: Vec<u64> = pure.into_iter().map(on_top).collect();
    on_top.sort_unstable();
    Some(EndpointModel {
        name: name.to_owned(),
        latency: Times::Measured(latency),
        backend: (!on_top.is_empty()).then_some(Times::Measured(on_top)),
        cached: true,
        ttl_ns: None,
        expensive: Expensive::Share(costly_keys.len() as f64 / keys.len().max(1) as f64),
    })
}

/// When something was computed.
struct Busy {
    /// Begins of computations, ascending.
    begins: Vec<u64>,
    /// For each of them the latest end of those before it.
    ended: Vec<u64>,
}

impl Busy {
    /// From stretches that are sorted by their begin.
    fn of(stretches: &[(u64, u64)]) -> Self {
        let latest = |until: &mut u64, &(_, end): &(u64, u64)| {
            let before = *until;
            *until = before.max(end);
            Some(before)
        };
        Self {
            begins: stretches.iter().map(|(begin, _)| *begin).collect(),
            ended: stretches.iter().scan(0, latest).collect(),
        }
    }

    /// Whether a computation, one of these, shares no instant with another.
    fn is_alone(&self, begin_ns: u64, end_ns: u64) -> bool {
        let first = self.begins.partition_point(|&begin| begin < begin_ns);
        let behind = self.begins.partition_point(|&begin| begin < end_ns);
        behind <= first + 1 && self.ended.get(first).is_none_or(|&end| end <= begin_ns)
    }
}

/// How many computations were worked on at once, if others waited at that time.
fn slots(stretches: &[(u64, u64)], service_ns: f64) -> Option<u32> {
    let (mut busy_ns, mut until) = (0, 0);
    for &(begin, end) in stretches {
        busy_ns += end.saturating_sub(begin.max(until));
        until = until.max(end);
    }
    if busy_ns == 0 {
        return None;
    }
    let busy = busy_ns as f64;
    let worked_on = stretches.len() as f64 * service_ns / busy;
    let under_way = stretches
        .iter()
        .map(|(begin, end)| end - begin)
        .sum::<u64>() as f64
        / busy;
    (under_way >= WAITING_FROM * worked_on).then(|| worked_on.round().max(1.0) as u32)
}

fn answers(record: &RunRecord, endpoint: u16) -> Vec<Answer> {
    let fresh = record.manifest.plan.scenario.load.fresh;
    let mut own: Vec<SampleRef<'_>> = record
        .samples
        .iter()
        .filter(|s| s.endpoint() == endpoint && s.outcome() == Outcome::Ok && s.sent().is_some())
        .collect();
    own.sort_by_key(|s| (s.repeat(), s.sent()));
    let mut seen: BTreeSet<(u16, u32)> = BTreeSet::new();
    own.into_iter()
        .filter_map(|sample| {
            let repeat = if fresh { sample.repeat() } else { 0 };
            let keyed = sample.key() != NONE;
            Some(Answer {
                key: sample.key(),
                begin_ns: sample.sent()?.get(),
                service_ns: sample.done().since(sample.sent()?),
                alone: sample.in_flight() == 0,
                first: keyed && seen.insert((repeat, sample.key())),
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

    #[test]
    fn computations_that_share_no_instant_are_alone() {
        let stretches = [(0, 10), (5, 50), (20, 30), (60, 70), (70, 80), (90, 95)];
        let busy = Busy::of(&stretches);
        let alone: Vec<bool> = stretches
            .iter()
            .map(|&(b, e)| busy.is_alone(b, e))
            .collect();
        assert_eq!(alone, [false, false, false, true, true, true]);
        let brute = |b: u64, e: u64| {
            stretches
                .iter()
                .filter(|(begin, end)| *begin < e && *end > b)
                .count()
                <= 1
        };
        for (&(b, e), alone) in stretches.iter().zip(alone) {
            assert_eq!(brute(b, e), alone);
        }
    }

    const MS: u64 = 1_000_000;

    fn at(begin_ms: u64, key: u32, ms: u64, first: bool) -> Answer {
        Answer {
            key,
            begin_ns: begin_ms * MS,
            service_ns: ms * MS,
            alone: true,
            first,
        }
    }

    fn model(answers: Vec<Answer>) -> TargetModel {
        of_all(&[("a", answers)]).expect("it was answered")
    }

    /// Later answers of 20 ms each, when nothing is computed.
    fn quick(keys: u32) -> impl Iterator<Item = Answer> {
        (0..40).map(move |i| at(100_000, i % keys, 20, false))
    }

    #[test]
    fn slow_first_touches_are_computed_and_the_others_are_cheap() {
        let mut answers: Vec<Answer> = (0..4)
            .map(|i| at(1000 * u64::from(i), i, 500, true))
            .collect();
        answers.extend((4..20).map(|key| at(50_000, key, 21, true)));
        answers.extend(quick(20));
        let found = model(answers);
        assert_eq!(found.slots, None, "no request waited for a slot");
        let a = found.endpoint("a");
        assert_eq!(a.expensive, Expensive::Share(0.2));
        assert_eq!(a.backend, Some(Times::Measured(vec![480 * MS; 4])));
        assert_eq!(a.latency, Times::Measured(vec![20 * MS; 40]));
    }

    #[test]
    fn waiting_for_a_slot_is_told_from_computing() {
        // Four ask at once and are answered one after the other; one more asks alone.
        let mut answers: Vec<Answer> = (0..4)
            .map(|i| at(0, i, 500 * (u64::from(i) + 1), true))
            .collect();
        answers.push(at(10_000, 4, 500, true));
        answers.extend(quick(5));
        let found = model(answers);
        assert_eq!(found.slots, Some(1));
        let backend = found.endpoint("a").backend;
        assert_eq!(backend, Some(Times::Measured(vec![480 * MS])));
    }

    #[test]
    fn first_touches_like_the_others_need_no_backend() {
        let mut answers: Vec<Answer> = (0..20).map(|key| at(0, key, 25, true)).collect();
        answers.extend(quick(20));
        let a = model(answers).endpoint("a");
        assert_eq!((a.backend, a.expensive), (None, Expensive::Share(0.0)));
        assert_eq!(of_all(&[("a", Vec::new())]), None);
    }

    #[test]
    fn times_without_queueing_are_preferred() {
        let mut answers: Vec<Answer> = (0..10).map(|_| at(0, NONE, 20, false)).collect();
        let queued = (0..10).map(|_| Answer {
            alone: false,
            ..at(0, NONE, 30, false)
        });
        answers.extend(queued);
        let latency = |answers: &[Answer]| base(answers).expect("it was answered");
        assert_eq!(latency(&answers), vec![20 * MS; 10]);
        answers.remove(0);
        assert_eq!(
            latency(&answers),
            [vec![20 * MS; 9], vec![30 * MS; 10]].concat()
        );
    }
}
