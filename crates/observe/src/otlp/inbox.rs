//! The spans that came: which are kept, and what their clock is.

use std::collections::BTreeMap;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::time::ClockId;
use slowpath_core::Nanos;
use slowpath_core::sample::Sample;
use slowpath_core::spans::{AppSpan, AppSpans, SpanKind, TelemetryFacts};

use super::message::{Export, KeyValue, STATUS_ERROR, Span};
use crate::clock;

/// Spans that a repeat keeps at most; they take 80 MB until it is over.
const MOST_SPANS: usize = 1_000_000;
/// Different names, or services, that a repeat keeps at most. A name is meant to be one of few
/// (`GET /users/{id}`); who puts the id into it has as many as requests.
const MOST_NAMES: usize = 4096;
/// What the names beyond are called.
const OTHERS: &str = "(other names)";
/// Characters of a name that are kept: people read it in a line.
const MOST_NAME_CHARS: usize = 120;
/// How often the distance between the clocks is read, at most: the wall clock is slewed by half a
/// thousandth, 50 us in this time.
const READ_CLOCKS_EVERY_NS: u64 = 100_000_000;

/// The spans of a repeat while they come.
#[derive(Debug, Default)]
pub(super) struct Inbox(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Whose spans are kept; `None` before the first repeat.
    wanted: Option<(u64, u16)>,
    spans: Vec<AppSpan>,
    names: Names,
    services: Names,
    clocks: Clocks,
    facts: TelemetryFacts,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What a panic could have left is a list that lacks its last entry.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the spans of a repeat from now on.
    pub(super) fn begin(&self, seed: u64, repeat: u16) {
        let mut state = State {
            wanted: Some((seed, repeat)),
            ..State::default()
        };
        state.clocks.read();
        *self.lock() = state;
    }

    /// Messages so far, whatever became of them.
    pub(super) fn messages(&self) -> u64 {
        let state = self.lock();
        state.facts.messages + state.facts.refused
    }

    /// Takes in a message.
    pub(super) fn take_in(&self, export: Export) {
        let mut state = self.lock();
        state.facts.messages += 1;
        state.clocks.read();
        for resource in export.resource_spans {
            let attributes = resource.resource.map(|r| r.attributes).unwrap_or_default();
            let service = text(&attributes, "service.name");
            let spans = resource
                .scope_spans
                .into_iter()
                .flat_map(|scope| scope.spans);
            for span in spans {
                state.keep(&span, service);
            }
        }
    }

    /// Notes that a message was refused.
    pub(super) fn refuse(&self, why: String) {
        let facts = &mut self.lock().facts;
        facts.refused += 1;
        if facts.refused == 1 {
            facts.refused_because = why;
        }
    }

    /// Everything that came, and empties the box.
    pub(super) fn take(&self, endpoint: String) -> (AppSpans, TelemetryFacts) {
        let mut state = mem::take(&mut *self.lock());
        state.clocks.read();
        // An exporter that was not answered in time sends again.
        state.spans.sort_by_key(AppSpan::order);
        state.spans.dedup_by_key(|span| (span.serial, span.id));
        let facts = TelemetryFacts {
            endpoint,
            kept: state.spans.len() as u64,
            clock_error_ns: state.clocks.error_ns(),
            ..state.facts
        };
        let spans = AppSpans {
            names: state.names.texts,
            services: state.services.texts,
            spans: state.spans,
        };
        (spans, facts)
    }
}

impl State {
    fn keep(&mut self, span: &Span, service: &str) {
        let request = self.wanted.and_then(|(seed, repeat)| {
            let id = u128::from_be_bytes(span.trace_id.as_slice().try_into().ok()?);
            let (of, serial) = Sample::of_trace_id(seed, id)?;
            (of == repeat).then_some((repeat, serial))
        });
        let id = id(&span.span_id);
        let (Some((repeat, serial)), true) = (request, id != 0) else {
            self.facts.foreign += 1;
            return;
        };
        if self.spans.len() >= MOST_SPANS {
            self.facts.dropped += 1;
            return;
        }
        let begin = self.clocks.monotonic(span.start_time_unix_nano);
        self.spans.push(AppSpan {
            serial,
            repeat,
            kind: SpanKind::of_number(span.kind.into()),
            error: span
                .status
                .is_some_and(|status| status.code == STATUS_ERROR),
            id,
            parent: self::id(&span.parent_span_id),
            name: self.names.place(&span.name),
            service: self.services.place(service),
            thread: thread(&span.attributes),
            begin,
            end: self.clocks.monotonic(span.end_time_unix_nano),
        });
    }
}

/// A span's id; 0, which is none, if it is not one.
fn id(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_be_bytes)
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a super::message::AnyValue> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.as_ref()
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let value = value(attributes, key).and_then(|value| value.string_value.as_deref());
    value.unwrap_or_default()
}

fn thread(attributes: &[KeyValue]) -> u64 {
    let value = value(attributes, "thread.id");
    let number = value.and_then(|value| match (&value.string_value, value.int_value) {
        (_, Some(number)) => u64::try_from(number).ok(),
        (Some(text), None) => text.parse().ok(),
        (None, None) => None,
    });
    number.unwrap_or_default()
}

/// Texts, each once.
#[derive(Debug, Default)]
struct Names {
    texts: Vec<String>,
    places: BTreeMap<String, u32>,
}

impl Names {
    fn place(&mut self, text: &str) -> u32 {
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        let is_full = self.texts.len() >= MOST_NAMES;
        let text = if is_full { OTHERS } else { text };
        let short: String = text.chars().take(MOST_NAME_CHARS).collect();
        let next = self.texts.len() as u32;
        let place = *self.places.entry(short.clone()).or_insert(next);
        if place == next {
            self.texts.push(short);
        }
        place
    }
}

/// The wall clock against `CLOCK_MONOTONIC`, at several instants.
#[derive(Debug, Default)]
struct Clocks {
    /// When on the wall clock, and by how much it was ahead.
    readings: Vec<(i128, i128)>,
    last: Option<Nanos>,
    /// Half of the widest bracket in which both were read.
    bracket_ns: u64,
}

impl Clocks {
    fn read(&mut self) {
        let now = clock::now();
        if self
            .last
            .is_some_and(|last| now.since(last) < READ_CLOCKS_EVERY_NS)
        {
            return;
        }
        self.last = Some(now);
        let (window, ahead_ns) = clock::offset_ns(ClockId::Realtime);
        self.bracket_ns = self.bracket_ns.max(window.len_ns().div_ceil(2));
        let wall = i128::from(window.end.get()) + ahead_ns;
        self.readings.push((wall, ahead_ns));
    }

    /// An instant of the wall clock, by the last reading before it: a clock that was set in between
    /// is converted right.
    fn monotonic(&self, unix_ns: u64) -> Nanos {
        let unix_ns = i128::from(unix_ns);
        let behind = self.readings.partition_point(|&(wall, _)| wall <= unix_ns);
        let reading = self.readings.get(behind.saturating_sub(1));
        let ahead_ns = reading.map_or(0, |&(_, ahead_ns)| ahead_ns);
        Nanos::new((unix_ns - ahead_ns).clamp(1, i128::from(i64::MAX)) as u64)
    }

    /// By how much an instant may be off: the reading, and what the wall clock went astray from
    /// one reading to the next.
    fn error_ns(&self) -> u64 {
        let neighbours = self.readings.windows(2);
        let astray = neighbours.map(|pair| pair[1].1.abs_diff(pair[0].1));
        self.bracket_ns + u64::try_from(astray.max().unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_short() {
        let mut names = Names::default();
        for number in 0..MOST_NAMES + 10 {
            names.place(&format!("GET /{number}"));
        }
        assert_eq!(names.texts.len(), MOST_NAMES + 1);
        assert_eq!(names.place("GET /new"), MOST_NAMES as u32);
        assert_eq!(names.place("GET /7"), 7);
        let mut names = Names::default();
        let long = "é".repeat(500);
        assert_eq!(names.place(&long), names.place(&long));
        assert_eq!(names.texts[0].chars().count(), MOST_NAME_CHARS);
    }

    #[test]
    fn instants_are_told_by_the_last_reading_before_them() {
        let clocks = Clocks {
            // It was set forward by 1000 when it showed 600.
            readings: vec![(500, 100), (1700, 1100)],
            last: None,
            bracket_ns: 3,
        };
        let at = |unix_ns| clocks.monotonic(unix_ns).get();
        assert_eq!((at(400), at(550), at(1800)), (300, 450, 700));
        assert_eq!((at(0), at(u64::MAX)), (1, i64::MAX as u64));
        assert_eq!(clocks.error_ns(), 1003);
    }

    #[test]
    fn the_present_is_the_present() {
        let mut clocks = Clocks::default();
        clocks.read();
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let before = clock::now();
        let told = clocks.monotonic(wall.unwrap().as_nanos() as u64);
        assert!(before.since(told).max(told.since(before)) < 1_000_000_000);
    }
}
