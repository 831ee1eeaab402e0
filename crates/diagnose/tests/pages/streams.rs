//! The figures of streams of events, on simulated runs whose responses are made streams.

use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Sample, Stage};
use slowpath_core::scenario::EventRange;
use slowpath_diagnose::diagnosis::StreamFigures;
use slowpath_diagnose::judge;

use crate::case::build;
use crate::case::spec::Case;

/// A run of which each measured request streamed ten events, changed by `change`, which gets the
/// number of the request among them.
fn run(events: Option<EventRange>, mut change: impl FnMut(usize, &mut Sample)) -> RunRecord {
    let text = "name = \"a\"\nexpect = \"nothing\"\nduration = \"10s\"\nusers = 4\n\
                class = [{ sleep = \"2ms + 0.2ms\" }]";
    let mut record = build(&Case::parse(text).unwrap());
    record.manifest.plan.scenario.endpoints[0].expect.events = events;
    record.samples.change(|samples| {
        let all = samples.iter_mut();
        let measured = all.filter(|sample| sample.stage == Stage::Measured);
        for (number, sample) in measured.enumerate() {
            sample.first_event = sample.sent.map(|sent| sent.plus(500_000));
            sample.events = 10;
            sample.gap_ns = 300_000;
            change(number, sample);
        }
    });
    record
}

fn figures(record: &RunRecord) -> StreamFigures {
    judge(record).endpoints[0].stream.clone().unwrap()
}

/// Measured requests that ended.
fn ended(record: &RunRecord) -> u64 {
    let samples = record.samples.iter();
    let measured = samples.filter(|sample| sample.stage() == Stage::Measured);
    measured
        .filter(|sample| sample.outcome() != Outcome::Unfinished)
        .count() as u64
}

#[test]
fn what_was_offered_is_held_against_what_was_delivered() {
    let record = run(Some(EventRange::exactly(10)), |number, sample| {
        if number % 4 == 0 {
            sample.events = 6;
            sample.outcome = Outcome::Events;
        }
    });
    let (stream, ended) = (figures(&record), ended(&record));
    let short = stream.short_streams;
    assert_eq!(stream.offered, Some(10 * ended));
    assert!(short.abs_diff(ended / 4) <= 1, "{short} of {ended}");
    assert_eq!(stream.delivered, 10 * ended - 4 * short);
    // Short streams had a first event too.
    let first = &stream.first_event_ms.p50;
    assert_eq!((first.value, first.n), (Some(0.5), Some(ended)));
    assert_eq!(stream.gap_ms.p99.value, Some(0.3));
}

#[test]
fn streams_that_never_began_are_slower_than_all() {
    let record = run(Some(EventRange::exactly(10)), |number, sample| {
        if number % 4 == 0 {
            sample.events = 0;
            sample.first_event = None;
            sample.outcome = Outcome::Timeout;
        }
    });
    let stream = figures(&record);
    assert_eq!(stream.first_event_ms.p50.value, Some(0.5));
    assert_eq!(stream.first_event_ms.p90.value, None, "a quarter timed out");
    assert_eq!(stream.gap_ms.p90.value, Some(0.3));
}

#[test]
fn without_an_expectation_only_broken_streams_are_short() {
    let record = run(None, |number, sample| {
        sample.events = 3 + number as u32 % 2;
        if number == 7 {
            sample.outcome = Outcome::Truncated;
        }
    });
    let stream = figures(&record);
    assert_eq!((stream.offered, stream.short_streams), (None, 1));
}

#[test]
fn an_endpoint_without_streams_has_none() {
    let record = run(None, |_, sample| {
        sample.events = 0;
        sample.first_event = None;
    });
    assert_eq!(judge(&record).endpoints[0].stream, None);
}
