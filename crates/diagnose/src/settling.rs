//! How an endpoint settled after the start of the load.

use slowpath_core::facts::RepeatFacts;
use slowpath_core::nanos::Nanos;
use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;
use slowpath_core::scenario::Model;
use slowpath_core::stats::settle::{Course, Ramp, medians, settle, throughput};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::Settling;
use crate::validity::is_crowded;

/// A run that serves less than this share of what it was asked, from its first moment to its
/// last, is stuck: more fails than succeeds, and time does not mend it.
const STUCK_BELOW: f64 = 0.5;

/// The class of an endpoint: the middle one of its repeats, the milder of two; `None` if none
/// could be judged. On a host without room a change of speed may be the work of others, so that only
/// steadiness is told.
pub(crate) fn settling(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Settling> {
    let repeats = case.record.manifest.repeats.iter();
    let mut ramps: Vec<Ramp> = repeats
        .filter_map(|repeat| course(case, endpoint.index, repeat))
        .map(|course| course.ramp)
        .collect();
    ramps.sort_unstable();
    let ramp = *ramps.get(ramps.len().checked_sub(1)? / 2)?;
    let served = endpoint.completed.len() as f64 / endpoint.offered.max(1) as f64;
    if ramp != Ramp::None && is_crowded(case) {
        return None;
    }
    Some(match ramp {
        Ramp::None if served < STUCK_BELOW => Settling::NoRamp,
        Ramp::None => Settling::None,
        Ramp::Fast => Settling::FastRamp,
        Ramp::Slow => Settling::SlowRamp,
        Ramp::NotSettled => Settling::NotSettled,
    })
}

/// The course of one repeat, warm-up included. Users who do not think leave the throughput free;
/// where arrivals or thinking set it, the latency shows what the target does.
fn course(case: &Case<'_>, endpoint: u16, repeat: &RepeatFacts) -> Option<Course> {
    let model = &case.record.manifest.plan.scenario.load.model;
    let begin = all_there(model, repeat.load.begin);
    let end = repeat.window.end;
    let samples = case.record.samples.iter();
    let of = |s: &SampleRef<'_>| {
        s.endpoint() == endpoint && s.repeat() == repeat.repeat && s.outcome() == Outcome::Ok
    };
    let completed = samples.filter(of);
    let values = if is_free(model) {
        let done: Vec<u64> = completed.map(|s| s.done().get()).collect();
        throughput(begin.get(), end.get(), &done)
    } else {
        let due: Vec<(u64, u64)> = completed
            .map(|s| (s.scheduled().get(), s.latency_ns()))
            .collect();
        medians(begin.get(), end.get(), &due)
    };
    settle(&values?)
}

/// When all users have been started: until then the ramp is ours.
fn all_there(model: &Model, begin: Nanos) -> Nanos {
    match model {
        Model::Closed {
            users,
            spawn_per_s: Some(spawn_per_s),
            ..
        } => begin.plus((f64::from(*users) / spawn_per_s * 1e9) as u64),
        Model::Closed { .. } | Model::Open { .. } => begin,
    }
}

/// Whether the target alone decides how many requests are made.
fn is_free(model: &Model) -> bool {
    matches!(model, Model::Closed { think, .. } if think.is_none())
}
