//! Segments that are lost on the way: what a request waits for until they are sent again. The tracepoint says of which connection;
//! where the kernel does not record it on an idle CPU, its counter says when.

use slowpath_attribution::Basis;
use slowpath_attribution::{Holder, Path, Phase, Reason, Slice, State};
use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::signal::NET_COUNTER;
use slowpath_core::timeline::{Series, Subject};

use super::overlay;
use crate::case::Case;
use crate::trace::inside::{Inside, Walked};
use crate::trace::repeated::{Repeated, TIMER_LEAST_NS, Wait};

/// What the counter is read for at an end of a wait may have been counted so long before and after: the counters are read every
/// 100 ms.
const COUNTED_WITHIN_NS: u64 = 100 * MILLISECOND;

/// Lays the waits for lost segments over the time of which is known only that it went by on the network.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
) {
    let again = Repeated::of(inside);
    let dropped = case.listener_drops();
    let sent_again = case.series(&NET_COUNTER, &Subject::Target, "Tcp.RetransSegs");
    for (path, walked) in paths.iter_mut().zip(walked) {
        let sample = case.sample(path.sample);
        // The first request of a connection that the listener dropped is repeated for that.
        if dropped && sample.connect_begin().is_some() {
            continue;
        }
        let waits = again.waits(inside, &walked.joined, sample);
        let traced: Vec<Span> = waits.iter().map(Wait::span).collect();
        lay(path, &traced, Basis::Traced);
        if let Some(sent_again) = sent_again {
            let counted = counted(path, sent_again);
            lay(path, &counted, Basis::Counter);
        }
    }
}

fn lay(path: &mut Path, spans: &[Span], basis: Basis) {
    overlay(&mut path.slices, spans, |slice| {
        is_on_the_way(slice).then_some(Slice {
            state: State::Retransmit,
            holder: Holder::Kernel,
            activity: State::Retransmit,
            basis,
            ..*slice
        })
    });
}

/// Whether a request or its answer is somewhere between client and server.
fn is_on_the_way(slice: &Slice) -> bool {
    match slice.state {
        State::Unknown(Reason::Network) => true,
        State::Client => slice.phase == Phase::Response,
        _ => false,
    }
}

/// The times on the way that are as long as TCP's shortest timer, at the end of which the kernel counted a segment that was sent again (by that timer, or as a loss probe, RFC 8985).
fn counted(path: &Path, sent_again: &Series) -> Vec<Span> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for slice in path.slices.iter().filter(|slice| is_on_the_way(slice)) {
        match spans.last_mut() {
            Some(last) if last.1 == slice.begin => last.1 = slice.end,
            _ => spans.push((slice.begin, slice.end)),
        }
    }
    spans.retain(|(begin, end)| {
        let near = Span::new(
            Nanos::new(end.saturating_sub(COUNTED_WITHIN_NS)),
            Nanos::new(end + COUNTED_WITHIN_NS),
        );
        end - begin >= TIMER_LEAST_NS && sent_again.increase(near).is_some_and(|n| n > 0.0)
    });
    let span = |(begin, end)| Span::new(Nanos::new(begin), Nanos::new(end));
    spans.into_iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use slowpath_core::timeline::Point;

    use super::*;

    const MS: u64 = MILLISECOND;

    fn slice(begin: u64, end: u64, state: State) -> Slice {
        Slice {
            begin: begin * MS,
            end: end * MS,
            phase: Phase::Network,
            state,
            holder: Holder::Unknown,
            activity: state,
            actor: 0,
            basis: Basis::Unknown,
        }
    }

    #[test]
    fn a_long_time_on_the_way_that_ends_when_a_segment_was_counted_is_a_wait_for_it() {
        let reading = |at: u64, value: f64| Point {
            window: Span::new(Nanos::new(at * MS), Nanos::new(at * MS)),
            value,
        };
        let readings = [(100, 0.0), (300, 0.0), (400, 1.0), (1_000, 1.0)];
        let points = readings.map(|(at, value)| reading(at, value)).to_vec();
        let sent_again = Series {
            signal: NET_COUNTER.id.to_owned(),
            subject: Subject::Target,
            label: "Tcp.RetransSegs".to_owned(),
            points,
        };
        let network = State::Unknown(Reason::Network);
        let counted = |slices: Vec<Slice>| {
            let path = Path {
                sample: 0,
                slow: true,
                weight: 1.0,
                slices,
            };
            counted(&path, &sent_again)
        };
        let lost = vec![slice(150, 200, network), slice(200, 355, network)];
        let span = Span::new(Nanos::new(150 * MS), Nanos::new(355 * MS));
        assert_eq!(counted(lost), [span]);
        // Too short for TCP's timer, of another kind, and at a time at which nothing was sent again.
        assert!(counted(vec![slice(200, 355, network)]).is_empty());
        assert!(counted(vec![slice(150, 355, State::Sleep)]).is_empty());
        assert!(counted(vec![slice(600, 810, network)]).is_empty());
    }
}
