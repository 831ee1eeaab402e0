//! When the events of a streamed response came, and how long it was silent between them.

use slowpath_core::Nanos;
use slowpath_core::sample::{Sample, StreamEvent};

use crate::body::Body;
use crate::log::Log;

/// Writes down the events that a read at `at` made whole. Events of one read have one instant.
pub(crate) fn note_events(body: &mut Body, at: Nanos, sample: &mut Sample, log: &Log) {
    let before = body.last_event_at;
    let mut last = before;
    for data_bytes in body.fresh_events() {
        sample.first_event.get_or_insert(at);
        last = Some(at);
        log.stream_event(StreamEvent {
            at,
            serial: sample.serial,
            index: sample.events,
            data_bytes,
            repeat: sample.repeat,
        });
        sample.events = sample.events.saturating_add(1);
    }
    if last != before {
        note_end(body, at, sample);
        body.last_event_at = last;
    }
}

/// A silence that began with the last event, if there was one, ended at `at`: with the next one,
/// or with the response.
pub(crate) fn note_end(body: &Body, at: Nanos, sample: &mut Sample) {
    if let Some(last) = body.last_event_at {
        note_silence(last, at, sample);
    }
}

/// Keeps the longest silence.
pub(crate) fn note_silence(begin: Nanos, end: Nanos, sample: &mut Sample) {
    if end.since(begin) > sample.gap_ns {
        sample.gap_begin = Some(begin);
        sample.gap_ns = end.since(begin);
    }
}
