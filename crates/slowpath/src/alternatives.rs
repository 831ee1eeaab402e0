//! What else may have made the difference that an experiment showed: an intervention that takes a cause
//! away takes other things away too.

use std::collections::BTreeMap;

use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{NONE, Outcome};
use slowpath_core::signal::{PROCESS_THREADS_STATE, THREAD_RUN_DELAY};
use slowpath_core::timeline::{Series, Subject};
use slowpath_experiment::{
    Arm, Beside, Experiment, Intervention, KeyCount, accounted, gained_beside, other_keys,
};

use crate::blocks::{Counted, began, counted};
use crate::pausing::Paused;
use crate::switcher::Followed;

/// What is slow has to be made of replies by so much: a cause of less than the half is not the cause.
const ACCOUNTED_LEAST: f64 = 0.5;
/// Slow requests that this is inferred from.
pub(crate) const ACCOUNTED_OF_LEAST: usize = 10;
/// The label of threads that wait for a disk.
const AT_A_DISK: &str = "D";

/// The requests whose time the replies of a service are to account for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accounts {
    /// Those that took longer; all with 0.
    pub(crate) above_ns: u64,
}

/// Why it may be another cause although the intervention moved what is slow as predicted, by what was
/// measured under it.
pub(crate) fn another(
    record: &RunRecord,
    experiment: &Experiment,
    followed: &Followed,
    accounts: Option<Accounts>,
) -> Option<String> {
    match experiment.hypothesis.intervention {
        Intervention::PauseThread { .. } => {
            let beside = || beside(record, experiment, followed.paused);
            followed.hardly.clone().or_else(beside)
        }
        Intervention::KeysApart | Intervention::FewerKeys { .. } => keys(record, experiment),
        Intervention::DelayService { calls, .. } => {
            unaccounted(record, experiment, (&followed.exchanges, calls), accounts?)
        }
        Intervention::ClientQuickAck
        | Intervention::TimerSlack { .. }
        | Intervention::CpuQuota { .. }
        | Intervention::LeaveOut { .. }
        | Intervention::KeepOneOf { .. }
        | Intervention::FreshConnections
        | Intervention::KeptConnections
        | Intervention::IdleLimit { .. }
        | Intervention::FileLimit { .. }
        | Intervention::Niceness { .. }
        | Intervention::Toggle { .. } => None,
    }
}

/// A thread that is paused uses no CPU and no disk either.
fn beside(record: &RunRecord, experiment: &Experiment, own: Option<Paused>) -> Option<String> {
    let design = &experiment.design;
    let began = began(record, experiment)?;
    let is_other = |series: &&Series| match (&series.subject, own) {
        (Subject::Thread { tid, .. }, Some(own)) => *tid != own.tid,
        _ => true,
    };
    let delays: Vec<&Series> = record
        .timeline
        .all(&THREAD_RUN_DELAY)
        .filter(is_other)
        .collect();
    if delays.is_empty() {
        return Some(
            "it was not seen whether other threads waited less for the CPU that it left".to_owned(),
        );
    }
    let states = record.timeline.all(&PROCESS_THREADS_STATE);
    let at_disks: Vec<&Series> = states.filter(|series| series.label == AT_A_DISK).collect();
    let mut requests_ns = vec![0_u64; design.blocks.len()];
    for Counted { block, sample, .. } in counted(record, experiment, None) {
        requests_ns[block] += sample.latency_ns();
    }
    let of_block = |(block, arm): (usize, &Arm)| {
        let span = |(begin, end)| Span::new(began.plus(begin), began.plus(end));
        let spans: Vec<Span> = design.counted_ns(block).map(span).collect();
        let all_ns = spans.iter().map(|span| span.len_ns()).sum::<u64>().max(1) as f64;
        let delay_ns: f64 = spans
            .iter()
            .flat_map(|&span| {
                delays
                    .iter()
                    .filter_map(move |series| series.increase(span))
            })
            .sum();
        let waits = spans.iter().map(|&span| {
            let mean: f64 = at_disks.iter().filter_map(|series| series.mean(span)).sum();
            mean * span.len_ns() as f64 / all_ns
        });
        // It stands still in the other arm, and waits for no disk.
        let its = own
            .filter(|_| *arm == Arm::Without)
            .map_or(0.0, |own| own.at_a_disk);
        Beside {
            block,
            requests: requests_ns[block] as f64 / all_ns,
            threads: delay_ns / all_ns + (waits.sum::<f64>() - its).max(0.0),
        }
    };
    let blocks: Vec<Beside> = design.blocks.iter().enumerate().map(of_block).collect();
    gained_beside(design, &blocks)
}

/// Other keys are asked for, or the same ones in other shares.
fn keys(record: &RunRecord, experiment: &Experiment) -> Option<String> {
    let slow_ns = experiment.hypothesis.slow_above_ms * 1e6;
    let mut keys: BTreeMap<u32, [KeyCount; 2]> = BTreeMap::new();
    let endpoint = experiment.endpoint.as_deref();
    for Counted { arm, sample, .. } in counted(record, experiment, endpoint) {
        if sample.outcome() == Outcome::Ok && sample.key() != NONE {
            let of_key = keys.entry(sample.key()).or_default();
            of_key[usize::from(arm == Arm::With)].add(sample.latency_ns() as f64 > slow_ns);
        }
    }
    let keys: Vec<[KeyCount; 2]> = keys.into_values().collect();
    other_keys(&keys, experiment.hypothesis.remains)
}

/// That requests wait for a service does not say that they are slow by it.
fn unaccounted(
    record: &RunRecord,
    experiment: &Experiment,
    (exchanges, calls): (&[Span], u32),
    accounts: Accounts,
) -> Option<String> {
    let requests = counted(record, experiment, experiment.endpoint.as_deref());
    let of_arm = requests.filter(|counted| counted.arm == Arm::Without);
    let slow = of_arm.filter(|counted| counted.sample.latency_ns() > accounts.above_ns);
    let spans =
        slow.filter_map(|Counted { sample, .. }| Some(Span::new(sample.sent()?, sample.done())));
    let mut slow: Vec<Span> = spans.collect();
    if let Some(last) = exchanges.iter().map(|span| span.end).max() {
        // Of what came later no exchange may have been kept.
        slow.retain(|span| span.end <= last);
    }
    if slow.len() < ACCOUNTED_OF_LEAST {
        return Some(format!(
            "without the delay only {} requests were slow, too few to see whether they were by its replies",
            slow.len()
        ));
    }
    let share = accounted(&slow, exchanges, calls);
    (share < ACCOUNTED_LEAST).then(|| {
        format!(
            "without the delay its replies are {:.0} % of the time that {} requests take, so that it is \
             something else that takes long",
            100.0 * share,
            slow.len()
        )
    })
}
