//! Which time of a run is exported, so that it fits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::record::RunRecord;
use slowpath_core::sample::{Outcome, Sample, Stage};
use slowpath_core::trace::{Depth, Event, Trace};

use super::{Part, Wanted};

/// Time shown before and after a slow request: what made it wait often began before it came, and a
/// switch of threads takes microseconds.
const AROUND_NS: u64 = 1_000_000;

/// An event of the trace becomes at most so many lines: a switch ends and begins a slice on two
/// tracks, and either may be met there first, when its slice from before the window is begun and
/// ended too. A waking does that on one track, and has two ends of an arrow.
const LINES_PER_EVENT: usize = 8;

/// A request becomes at most so many lines: itself, its wait for a connection, five phases, four
/// segments, the ends of its arrow, and the names of its tracks.
const LINES_PER_REQUEST: usize = 18;

/// A span becomes at most so many lines: itself, and the name and place of its track.
const LINES_PER_SPAN: usize = 3;

/// A request that is exported.
pub(super) struct Request {
    /// Its position in the record's samples.
    pub(super) position: usize,
    pub(super) sample: Sample,
    /// Whether it is one of the slowest that were asked for.
    pub(super) wanted: bool,
}

/// What is exported.
pub(super) struct Chosen {
    /// In order of time, without overlap.
    pub(super) windows: Vec<Span>,
    /// The requests that touch them, in order of schedule.
    pub(super) requests: Vec<Request>,
    pub(super) requests_left_out: u64,
    pub(super) left_out_ns: u64,
    /// Spans that there is room for.
    pub(super) most_spans: usize,
}

impl Chosen {
    /// Half of the room is for the threads' events, a quarter each for requests and their spans.
    pub(super) fn of(record: &RunRecord, wanted: &Wanted) -> Self {
        let most_events = wanted.most_events / 2 / LINES_PER_EVENT;
        let most_requests = wanted.most_events / 4 / LINES_PER_REQUEST;
        let (windows, slow, left_out_ns) = match wanted.part {
            Part::Slowest { requests, endpoint } => {
                let requests = requests.min(most_requests);
                around_slowest(record, requests, endpoint, most_events)
            }
            Part::Window(span) => {
                let fits = shortened(&record.trace.events, span, most_events);
                (vec![fits], Vec::new(), span.len_ns() - fits.len_ns())
            }
        };
        let mut chosen = Self {
            windows,
            requests: Vec::new(),
            requests_left_out: 0,
            left_out_ns,
            most_spans: wanted.most_events / 4 / LINES_PER_SPAN,
        };
        chosen.gather(record, &slow, most_requests);
        chosen
    }

    /// Takes the requests that touch the windows; of too many, the slowest.
    fn gather(&mut self, record: &RunRecord, slow: &[usize], most: usize) {
        let mut kept = BinaryHeap::new();
        for (position, sample) in record.samples.iter().enumerate() {
            if !touches(&self.windows, sample.span()) {
                continue;
            }
            // Those that were asked for come before all others.
            let wanted = slow.binary_search(&position).is_ok();
            kept.push(Reverse((wanted, sample.latency_ns(), Reverse(position))));
            if kept.len() > most {
                kept.pop();
                self.requests_left_out += 1;
            }
        }
        let requests = kept.into_iter().map(|Reverse((wanted, _, at))| Request {
            position: at.0,
            sample: record.samples.at(at.0).to_sample(),
            wanted,
        });
        self.requests = requests.collect();
        self.requests
            .sort_by_key(|one| (one.sample.repeat, one.sample.scheduled, one.sample.serial));
    }
}

fn touches(windows: &[Span], span: Span) -> bool {
    let next = windows.partition_point(|window| window.end <= span.begin);
    windows
        .get(next)
        .is_some_and(|window| window.begin < span.end)
}

/// The events of a stretch of time.
pub(super) fn events_in(events: &[Event], span: Span) -> &[Event] {
    let begin = events.partition_point(|event| event.at < span.begin);
    let end = events.partition_point(|event| event.at < span.end);
    events.get(begin..end).unwrap_or(&[])
}

/// As much of a stretch of time, from its begin, as has at most that many events.
fn shortened(events: &[Event], span: Span, most: usize) -> Span {
    let inside = events_in(events, span);
    inside.get(most).map_or(span, |first_left_out| {
        Span::new(span.begin, first_left_out.at)
    })
}

/// The windows around the slowest requests whose events fit together, the slowest first; the
/// positions of these requests, ascending; and the time around those that do not fit.
fn around_slowest(
    record: &RunRecord,
    requests: usize,
    endpoint: Option<u16>,
    most_events: usize,
) -> (Vec<Span>, Vec<usize>, u64) {
    let mut windows: Vec<Span> = Vec::new();
    let mut taken = Vec::new();
    let mut left_out_ns = 0;
    for position in slowest(record, requests, endpoint) {
        let span = record.samples.at(position).span();
        let around = Span::new(span.begin.minus(AROUND_NS), span.end.plus(AROUND_NS));
        let with = merged(&windows, around);
        let events = &record.trace.events;
        let needed: usize = with.iter().map(|one| events_in(events, *one).len()).sum();
        if needed <= most_events {
            windows = with;
            taken.push(position);
        } else if windows.is_empty() {
            // Its begin alone is more than nothing.
            let fits = shortened(events, around, most_events);
            left_out_ns += around.len_ns() - fits.len_ns();
            windows.push(fits);
            taken.push(position);
        } else {
            left_out_ns += around.len_ns();
        }
    }
    taken.sort_unstable();
    (windows, taken, left_out_ns)
}

/// The windows and one more, in order, with those that meet made one.
fn merged(windows: &[Span], more: Span) -> Vec<Span> {
    let mut all = windows.to_vec();
    all.push(more);
    all.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        match merged.last_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

/// The positions of the slowest measured requests, the slowest first: of those that were traced
/// whole, if there are any.
fn slowest(record: &RunRecord, most: usize, endpoint: Option<u16>) -> Vec<usize> {
    let mut kept = BinaryHeap::new();
    for (position, sample) in record.samples.iter().enumerate() {
        let counts = sample.stage() == Stage::Measured && sample.outcome() != Outcome::Unfinished;
        if !counts || endpoint.is_some_and(|own| own != sample.endpoint()) {
            continue;
        }
        let traced = is_traced(&record.trace, sample.scheduled(), sample.done());
        kept.push(Reverse((traced, sample.latency_ns(), Reverse(position))));
        if kept.len() > most {
            kept.pop();
        }
    }
    let kept = kept.into_sorted_vec();
    let any_traced = kept.first().is_some_and(|Reverse((traced, ..))| *traced);
    kept.into_iter()
        .filter(|Reverse((traced, ..))| *traced == any_traced)
        .map(|Reverse((.., Reverse(position)))| position)
        .collect()
}

/// Whether tracing was on from an instant to another.
fn is_traced(trace: &Trace, begin: Nanos, end: Nanos) -> bool {
    let first = trace.stretches.partition_point(|one| one.span.end <= begin);
    let mut known = begin;
    for stretch in trace.stretches.iter().skip(first) {
        if stretch.depth == Depth::Off || stretch.span.begin > known {
            return false;
        }
        known = stretch.span.end;
        if known >= end {
            return true;
        }
    }
    false
}
