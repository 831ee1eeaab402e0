//! The figures of streamed responses: what was delivered of what was asked for, and when.

use slowpath_core::sample::Outcome;
use slowpath_core::samples::SampleRef;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::StreamFigures;
use crate::figures::percentiles_of;

/// The figures of an endpoint's streams; `None` if it expects none and none came.
pub(crate) fn figures(case: &Case<'_>, endpoint: &EndpointCase) -> Option<StreamFigures> {
    let scenario = &case.record.manifest.plan.scenario;
    let expected = scenario.endpoints[usize::from(endpoint.index)]
        .expect
        .events;
    let ended = || {
        let all = endpoint.completed.iter().chain(&endpoint.failed);
        all.map(|&i| case.sample(i))
    };
    if expected.is_none() && ended().all(|sample| sample.first_event().is_none()) {
        return None;
    }
    let is_short = |sample: &SampleRef<'_>| match expected {
        Some(range) => u64::from(sample.events()) < range.min,
        None => sample.outcome().is_error() && sample.first_event().is_some(),
    };
    let streams: Vec<SampleRef<'_>> = ended().filter(|s| s.first_event().is_some()).collect();
    let silent: Vec<SampleRef<'_>> = ended()
        .filter(|s| s.first_event().is_none() && s.outcome() == Outcome::Timeout)
        .collect();
    // How long it would have gone on is not known of a silence in which it was given up.
    let given_up_in_silence = |sample: &&SampleRef<'_>| {
        let end = sample.gap_begin().map(|begin| begin.plus(sample.gap_ns()));
        sample.outcome() == Outcome::Timeout && end == Some(sample.done())
    };
    let (endless, heard): (Vec<SampleRef<'_>>, Vec<SampleRef<'_>>) =
        streams.iter().partition(given_up_in_silence);
    Some(StreamFigures {
        offered: expected.map(|range| range.min.saturating_mul(ended().count() as u64)),
        delivered: ended().map(|sample| u64::from(sample.events())).sum(),
        short_streams: ended().filter(is_short).count() as u64,
        // One that never began was silent for as long as it was waited for.
        first_event_ms: percentiles_of(case, &streams, &silent, |sample| {
            sample.first_event_ns().or(sample.service_ns())
        }),
        gap_ms: percentiles_of(case, &heard, &endless, |sample| Some(sample.gap_ns())),
    })
}
