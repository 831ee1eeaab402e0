//! What the target reported of its requests itself: the spans that its telemetry exported.
//!
//! Each request carries a `traceparent` of ours, so that a span of the target's names the request
//! that it belongs to. Only such spans are kept: what the target does besides is counted.

use serde::{Deserialize, Serialize};

use crate::nanos::{Nanos, Span};
use crate::sample::Sample;

/// Spans of a run's requests. Positions in [`AppSpan`] point into its own tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppSpans {
    /// What spans are called.
    pub names: Vec<String>,
    /// Who made them (`service.name`).
    pub services: Vec<String>,
    /// The spans by repeat, request and begin.
    pub spans: Vec<AppSpan>,
}

/// One span: a piece of the work for one request, as the target saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppSpan {
    /// The serial number of its request.
    pub serial: u32,
    /// The repeat of its request.
    pub repeat: u16,
    /// Its role.
    pub kind: SpanKind,
    /// Whether the target says that it failed.
    pub error: bool,
    /// Its id, never 0.
    pub id: u64,
    /// The span that it is a part of; 0 if the target names none. The span of the request itself
    /// has [`Sample::parent_id`], which is ours and never exported.
    pub parent: u64,
    /// Position of its name in [`AppSpans::names`].
    pub name: u32,
    /// Position of its service in [`AppSpans::services`].
    pub service: u32,
    /// The attribute `thread.id`, 0 if there is none: the number that the runtime gives the
    /// thread, which is the kernel's in some languages only.
    pub thread: u64,
    /// When it began: the exporter's wall clock, converted.
    pub begin: Nanos,
    /// When it ended, as the target says: before its begin, if the target's clock was set back.
    pub end: Nanos,
}

impl AppSpan {
    /// When it was; empty if it ends before it begins.
    pub fn span(&self) -> Span {
        Span::new(self.begin, self.end)
    }

    /// What orders spans in a record: by repeat, request and begin, and the longer of two first.
    pub const fn order(&self) -> (u16, u32, Nanos, std::cmp::Reverse<Nanos>, u64) {
        let last = std::cmp::Reverse(self.end);
        (self.repeat, self.serial, self.begin, last, self.id)
    }
}

/// The role of a span (`SpanKind` of OpenTelemetry).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SpanKind {
    /// Not stated.
    #[default]
    Unspecified,
    /// Work inside of the target.
    Internal,
    /// The answer to a request.
    Server,
    /// A request to another server.
    Client,
    /// A message sent to be worked on later.
    Producer,
    /// The work on such a message.
    Consumer,
}

impl SpanKind {
    /// Every role; the position is its number in `trace/v1/trace.proto` of OpenTelemetry, and its
    /// code in stored spans.
    pub const ALL: [Self; 6] = [
        Self::Unspecified,
        Self::Internal,
        Self::Server,
        Self::Client,
        Self::Producer,
        Self::Consumer,
    ];

    /// The role with that number; [`SpanKind::Unspecified`] if there is none.
    pub fn of_number(number: i64) -> Self {
        let place = usize::try_from(number).unwrap_or_default();
        Self::ALL.get(place).copied().unwrap_or_default()
    }
}

/// What became of the telemetry that came in one repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TelemetryFacts {
    /// Where the target was set to send it.
    pub endpoint: String,
    /// Messages taken.
    pub messages: u64,
    /// Messages refused: not understood, or too large.
    pub refused: u64,
    /// Why the first of these was refused; empty if none was.
    #[serde(default)]
    pub refused_because: String,
    /// Spans kept.
    pub kept: u64,
    /// Spans of what is no request of this repeat.
    pub foreign: u64,
    /// Spans that there was no room for.
    pub dropped: u64,
    /// By how much instants may be off at most, as far as the conversion from the wall clock goes.
    pub clock_error_ns: u64,
}

impl AppSpans {
    /// The spans of one request, in order of their begin.
    pub fn of_request(&self, repeat: u16, serial: u32) -> &[AppSpan] {
        let of = |span: &AppSpan| (span.repeat, span.serial);
        let begin = self.spans.partition_point(|s| of(s) < (repeat, serial));
        let rest = &self.spans[begin..];
        &rest[..rest.partition_point(|s| of(s) == (repeat, serial))]
    }

    /// What a span is called.
    pub fn name(&self, span: &AppSpan) -> &str {
        self.names.get(span.name as usize).map_or("", |n| n)
    }

    /// Appends the spans of later repeats; their positions are made ours.
    pub fn append(&mut self, other: &Self) {
        let names = merge(&mut self.names, &other.names);
        let services = merge(&mut self.services, &other.services);
        let place = |places: &[u32], at: u32| places.get(at as usize).copied().unwrap_or(u32::MAX);
        self.spans.extend(other.spans.iter().map(|span| AppSpan {
            name: place(&names, span.name),
            service: place(&services, span.service),
            ..*span
        }));
        self.spans.sort_by_key(AppSpan::order);
    }

    /// The spans of some repeats, with the numbers that `of` gives these.
    #[must_use]
    pub fn renumbered(&self, of: impl Fn(u16) -> Option<u16>) -> Self {
        let spans = self.spans.iter().filter_map(|span| {
            let repeat = of(span.repeat)?;
            Some(AppSpan { repeat, ..*span })
        });
        let mut own = Self {
            names: self.names.clone(),
            services: self.services.clone(),
            spans: spans.collect(),
        };
        own.spans.sort_by_key(AppSpan::order);
        own
    }
}

/// Adds the texts that are not there yet, and says where each of them is.
fn merge(ours: &mut Vec<String>, theirs: &[String]) -> Vec<u32> {
    let place = |text: &String| {
        let known = ours.iter().position(|our| our == text);
        let place = known.unwrap_or_else(|| {
            ours.push(text.clone());
            ours.len() - 1
        });
        place as u32
    };
    theirs.iter().map(place).collect()
}

impl Sample {
    /// Repeat and serial number of the request with a trace id; `None` if it is of no request
    /// that this seed makes.
    pub fn of_trace_id(seed: u64, trace_id: u128) -> Option<(u16, u32)> {
        let (repeat, serial) = ((trace_id >> 32) as u16, trace_id as u32);
        (Self::trace_id(seed, repeat, serial) == trace_id).then_some((repeat, serial))
    }

    /// The span id that a request names as the parent of what it causes: the lower half of its
    /// trace id.
    pub fn parent_id(trace_id: u128) -> u64 {
        trace_id as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(repeat: u16, serial: u32, begin: u64, name: u32) -> AppSpan {
        AppSpan {
            serial,
            repeat,
            kind: SpanKind::Server,
            error: false,
            id: begin,
            parent: 0,
            name,
            service: 0,
            thread: 0,
            begin: Nanos::new(begin),
            end: Nanos::new(begin + 5),
        }
    }

    #[test]
    fn trace_ids_lead_back_to_requests_and_others_do_not() {
        for (repeat, serial) in [(0, 0), (3, 7), (u16::MAX, u32::MAX)] {
            let id = Sample::trace_id(9, repeat, serial);
            assert_eq!(Sample::of_trace_id(9, id), Some((repeat, serial)));
            assert_eq!(Sample::of_trace_id(8, id), None);
            // The bits between the marker and the repeat are ours to be zero.
            assert_eq!(Sample::of_trace_id(9, id | 1 << 50), None);
        }
        assert_eq!(Sample::of_trace_id(0, 0), None);
    }

    #[test]
    fn spans_are_found_by_request_after_they_were_appended() {
        let mut all = AppSpans {
            names: vec!["a".into()],
            services: vec!["shop".into()],
            spans: vec![span(0, 1, 10, 0), span(0, 1, 20, 0)],
        };
        all.append(&AppSpans {
            names: vec!["b".into(), "a".into()],
            services: vec!["shop".into()],
            spans: vec![span(0, 0, 5, 0), span(1, 1, 30, 1)],
        });
        let begins = |repeat, serial| -> Vec<u64> {
            let own = all.of_request(repeat, serial).iter();
            own.map(|s| s.begin.get()).collect()
        };
        assert_eq!(begins(0, 1), [10, 20]);
        assert_eq!(begins(0, 0), [5]);
        assert_eq!(begins(1, 1), [30]);
        assert!(begins(1, 0).is_empty());
        assert_eq!(all.name(&all.of_request(0, 0)[0]), "b");
        assert_eq!(all.name(&all.of_request(1, 1)[0]), "a");
        assert_eq!(all.services, ["shop"]);
        let second = all.renumbered(|repeat| repeat.checked_sub(1));
        assert_eq!(second.of_request(0, 1).len(), 1);
        assert_eq!(second.spans.len(), 1);
    }
}
