//! The body of a response, whatever protocol brought it: counted, kept if an expectation looks
//! into it, taken apart if it is a stream of events.

use slowpath_core::Nanos;

use crate::sse::Parser;

/// Bytes of a body kept for expectations at most; what lies beyond is counted only. Large enough
/// for any document that a check makes sense of, small enough for some dozen at once.
const MOST_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of `Server-Timing` that are looked into at most: some eighty metrics.
const MOST_TIMING_BYTES: usize = 4096;

/// What becomes of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// An expectation looks into it.
    pub body: bool,
    /// It is a stream of events, whatever its `Content-Type` says.
    pub events: bool,
    /// Something is extracted from the headers.
    pub head: bool,
}

/// A body on its way in. Its memory serves response after response.
#[derive(Debug, Default)]
pub struct Body {
    wants: Wants,
    bytes: u64,
    kept: Vec<u8>,
    /// The head, if something is extracted from it: lines of `name: value`.
    head: Vec<u8>,
    /// What the headers `Server-Timing` say; empty without any.
    timing: Vec<u8>,
    is_stream: bool,
    parser: Parser,
    events: u32,
    fresh: Vec<u32>,
    last_event: Vec<u8>,
    /// When the last whole event came.
    pub(crate) last_event_at: Option<Nanos>,
}

impl Body {
    /// Prepares for the next response.
    pub fn reset(&mut self, wants: Wants) {
        self.wants = wants;
        self.bytes = 0;
        self.kept.clear();
        self.head.clear();
        self.timing.clear();
        if self.is_stream {
            self.is_stream = false;
            self.parser.reset();
            self.events = 0;
            self.fresh.clear();
            self.last_event.clear();
            self.last_event_at = None;
        }
    }

    /// The head is there: it says whether the body is a stream of events.
    pub fn begin(&mut self, is_event_stream: bool) {
        self.is_stream = is_event_stream || self.wants.events;
    }

    /// Takes the head, in the form of HTTP/1, if something is extracted from it.
    pub fn take_head(&mut self, lines: &[u8]) {
        if self.wants.head {
            self.head.extend_from_slice(lines);
        }
    }

    /// Takes the value of a header `Server-Timing`; what is longer than 4 KiB is left out.
    pub fn take_timing(&mut self, value: &[u8]) {
        if self.timing.len() + value.len() < MOST_TIMING_BYTES {
            if !self.timing.is_empty() {
                self.timing.push(b',');
            }
            self.timing.extend_from_slice(value);
        }
    }

    /// What all headers `Server-Timing` say, joined by commas; empty without any.
    pub fn timing(&self) -> &[u8] {
        &self.timing
    }

    /// The value of the first header of this name, which is in lower case, if heads are kept.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.split(|&byte| byte == b'\n');
        lines.find_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let (before, value) = (&line[..colon], &line[colon + 1..]);
            let is_same = before.trim_ascii().eq_ignore_ascii_case(name.as_bytes());
            let value = is_same.then(|| str::from_utf8(value.trim_ascii()).ok());
            value.flatten()
        })
    }

    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.wants.body {
            let room = MOST_KEPT_BYTES.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&bytes[..room.min(bytes.len())]);
        }
        if self.is_stream {
            let (fresh, last) = (&mut self.fresh, &mut self.last_event);
            let before = fresh.len();
            self.parser.feed(bytes, |event| {
                fresh.push(u32::try_from(event.data_bytes).unwrap_or(u32::MAX));
                last.clear();
                last.extend_from_slice(event.data);
            });
            let whole = u32::try_from(fresh.len() - before).unwrap_or(u32::MAX);
            self.events = self.events.saturating_add(whole);
        }
    }

    /// Its length so far, framing excluded.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What is kept of it: up to 16 MiB if an expectation looks into it, else nothing.
    pub fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Whether it is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Whole events so far.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// The lengths of the data of the events that became whole since the last call.
    pub fn fresh_events(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.fresh.drain(..)
    }

    /// The data of the last whole event, up to 64 KiB.
    pub fn last_event(&self) -> &[u8] {
        &self.last_event
    }

    /// Whether it is a stream that, if it ends here, ends within an event.
    pub fn is_inside_event(&self) -> bool {
        self.is_stream && self.parser.is_inside_event()
    }
}
