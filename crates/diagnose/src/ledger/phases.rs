//! Where unclaimed time lies, as far as the client sees it.

use slowpath_core::nanos::Span;
use slowpath_core::samples::SampleRef;

use crate::diagnosis::Part;

/// Smallest part of the excess that the split of the unexplained mentions.
const SPLIT_LEAST: f64 = 0.01;

/// The phases of a request after it had a connection to itself, in words for people.
const PHASES: [&str; 4] = [
    "sent late by slowpath itself",
    "making the connection",
    "before the first byte",
    "inside the response",
];

/// Time by the phase it lies in.
pub(super) type Phases = [f64; PHASES.len()];

/// When the phases of a request were.
pub(super) fn phases(sample: SampleRef<'_>) -> [Span; PHASES.len()] {
    let dial = sample.connect_begin().unwrap_or(sample.ready());
    let sent = sample.sent().unwrap_or(sample.done());
    let connected = sample
        .connected()
        .unwrap_or(if sample.connect_begin().is_some() {
            sent
        } else {
            dial
        });
    let first = sample.first_byte().unwrap_or(sample.done());
    let own_lag = if sample.connect_begin().is_some() {
        Span::new(sample.ready(), dial)
    } else {
        Span::new(sample.ready(), sent)
    };
    [
        own_lag,
        Span::new(dial, connected),
        Span::new(sent, first),
        Span::new(first, sample.done()),
    ]
}

/// The parts that are worth a mention, as shares of `all`, largest first.
pub(super) fn split(phases: &Phases, others: &[(&'static str, f64)], all: f64) -> Vec<Part> {
    let phases = PHASES.into_iter().zip(phases.iter().copied());
    let parts = phases.chain(others.iter().copied());
    let parts = parts.map(|(why, ns)| Part {
        why: why.to_owned(),
        share: ns / all,
    });
    let mut parts: Vec<Part> = parts.filter(|part| part.share >= SPLIT_LEAST).collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.why.cmp(&b.why)));
    parts
}
