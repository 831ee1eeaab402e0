//! The requests of one endpoint are not sent.

use slowpath_core::catalogue::{
    CONNECTION_POOL_EXHAUSTION, EVENT_LOOP_BLOCKING, INTERPRETER_LOCK, LOCK_CONTENTION,
    LOCK_HELD_OVER_IO, WORKER_POOL_EXHAUSTION,
};
use slowpath_diagnose::case::EndpointCase;
use slowpath_experiment::Intervention;

use super::moved::Moved;
use super::{Ground, Kind, Limits, Written};
use crate::exit::Problem;

pub(super) static KIND: Kind = Kind {
    causes: &[
        EVENT_LOOP_BLOCKING,
        LOCK_HELD_OVER_IO,
        LOCK_CONTENTION,
        INTERPRETER_LOCK,
        WORKER_POOL_EXHAUSTION,
        CONNECTION_POOL_EXHAUSTION,
    ],
    shared: Some(
        "requests that are not sent keep nothing, be it a thread, a lock, a CPU or a connection",
    ),
    write,
};

fn write(ground: &Ground<'_>) -> Result<Written, Problem> {
    let other = suspect(ground).ok_or_else(|| {
        let what = "leaving an endpoint out takes a run with two endpoints or more";
        Problem::usage(
            what,
            "name the requests that may hold others up as an endpoint of their own",
        )
    })?;
    let done = format!(
        "the requests of {} are not sent, those of {} no longer wait for them",
        other.name, ground.endpoint.name
    );
    let intervention = Intervention::LeaveOut {
        endpoint: other.name.clone(),
    };
    let hypothesis = Moved::of(ground)?.hypothesis(ground, &done, intervention);
    Ok(Written {
        limits: Limits {
            limited_by: Some(format!(
                "only the requests of {} were left out, and others may do the same",
                other.name
            )),
            ..Limits::default()
        },
        ..Written::new(hypothesis)
    })
}

/// The endpoint whose requests are under way when slow requests come, more often than when fast
/// ones do.
fn suspect<'a>(ground: &Ground<'a>) -> Option<&'a EndpointCase> {
    let own = ground.endpoint.index;
    let others = ground.case.endpoints.iter().filter(|e| e.index != own);
    others.max_by(|a, b| excess(ground, a).total_cmp(&excess(ground, b)))
}

/// By how much more often some of its requests are under way when a slow request comes.
fn excess(ground: &Ground<'_>, other: &EndpointCase) -> f64 {
    let case = ground.case;
    let spans = other.completed.iter().chain(&other.failed).map(|&i| {
        let sample = case.sample(i);
        (sample.scheduled(), sample.done())
    });
    let (mut begins, mut ends): (Vec<_>, Vec<_>) = spans.unzip();
    begins.sort_unstable();
    ends.sort_unstable();
    let victim = ground.endpoint;
    let (mut slow, mut fast) = ([0_u32; 2], [0_u32; 2]);
    for &i in &victim.completed {
        let at = case.sample(i).scheduled();
        let under_way = begins.partition_point(|&b| b <= at) > ends.partition_point(|&e| e <= at);
        let is_slow = victim.split.slow.binary_search(&i).is_ok();
        let counts = if is_slow { &mut slow } else { &mut fast };
        counts[usize::from(under_way)] += 1;
    }
    let share = |[none, some]: [u32; 2]| f64::from(some) / f64::from((none + some).max(1));
    share(slow) - share(fast)
}
