//! Waits in user space that end with what a loop or a runtime that parks is woken up for, where that shows what the request waited
//! for: the reply of a name server, or a time.
//!
//! A resolver asks for many requests over one socket, several kinds of address for each name, and lets those that want the same name
//! wait for one answer: which question is whose is not seen. But a request that goes on as soon as a name server has replied, and at no
//! other time, has waited for that. A loop that wakes up because a time has come, and whose first word then is that of a
//! request, has kept this one until that time.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Basis, Holder, Path, Slice, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, Context};

use super::released::{Habit, OVER_CHANCE, enders, is_behind_others, is_open, open};
use super::{Peers, overlay};
use crate::case::Case;
use crate::trace::calls::Own;
use crate::trace::index::{Mark, TrafficKind, Why};
use crate::trace::inside::{Inside, Walked};

/// So many waits show a habit: of twice as many, each with a chance of a sixth (a third of the half that has to end so), eight end so
/// by chance less than once in two hundred times.
pub(super) const WAITS_LEAST: usize = 8;
/// So many times as many as end with a reply of a name server by chance: a name is asked for in two kinds of address at once, so that
/// of the replies during a wait, by which chance is measured, every other one belongs to the look-up itself.
const OVER_CHANCE_OF_NAMES: f64 = 2.0;

/// Something that ends waits: from when it was under way, and when it was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends {
    span: (u64, u64),
    /// The connection to the name server.
    socket: u32,
}

/// Lays them over what the trace leaves open.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    walked: &[Walked],
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    let replies = replies(inside);
    let mut peers = Peers::default();
    for (path, span, ends) in habit(paths, OVER_CHANCE_OF_NAMES, |_| &replies, |_, _| true) {
        let actor = peers.actor(inside, ends.socket, actors);
        lay(&mut paths[path], span, |slice| Slice {
            state: State::Reply,
            holder: Holder::Resolver,
            activity: State::Reply,
            actor,
            basis: Basis::Traced,
            ..*slice
        });
    }
    let mut by_thread: BTreeMap<u32, Vec<Ends>> = BTreeMap::new();
    for walked in walked {
        let tid = walked.joined.reader;
        if inside.loops.has(tid) {
            by_thread.entry(tid).or_insert_with(|| times(inside, tid));
        }
    }
    let calls = inside.calls(case);
    let of_thread = |path: usize| {
        let own = by_thread.get(&walked[path].joined.reader);
        own.map_or(&[][..], Vec::as_slice)
    };
    let goes_on = |path: usize, at: u64| {
        let walked = &walked[path];
        let first = first_word(inside, walked.joined.reader, at);
        first.is_some_and(|mark| is_of(&calls.known(inside, walked), walked, &mark))
    };
    for (path, span, _) in habit(paths, OVER_CHANCE, of_thread, goes_on) {
        lay(&mut paths[path], span, |slice| Slice {
            state: State::Sleep,
            holder: Holder::ThisRequest,
            activity: State::Sleep,
            basis: Basis::Traced,
            ..*slice
        });
    }
}

/// The waits, by the position of their path, that end so, if that is a habit. What ends the waits of a path is asked for, and whether
/// the request goes on with what is over at an instant.
fn habit<'e>(
    paths: &[Path],
    over_chance: f64,
    of: impl Fn(usize) -> &'e [Ends],
    goes_on: impl Fn(usize, u64) -> bool,
) -> Vec<(usize, (u64, u64), Ends)> {
    let mut habit = Habit::default();
    let mut waits = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        let all = of(place);
        let spans: Vec<(u64, u64)> = all.iter().map(|ends| ends.span).collect();
        for (begin, end) in open(path) {
            let span = (begin, goes_on_at(path, end));
            let ended = |at: u64| {
                enders(&spans, (span.0, at))
                    .find(|&end| at != span.1 || goes_on(place, spans[end].1))
            };
            habit.add(span, ended);
            waits.extend(ended(span.1).map(|end| (place, span, all[end])));
        }
    }
    if !habit.is_one_of(WAITS_LEAST, over_chance) {
        waits.clear();
    }
    waits
}

/// When a request goes on whose wait is over: its loop may do something for others first.
fn goes_on_at(path: &Path, end: u64) -> u64 {
    let first = path.slices.partition_point(|slice| slice.begin < end);
    let behind = path.slices[first..]
        .iter()
        .take_while(|slice| is_behind_others(slice) || matches!(slice.state, State::Runnable(_)));
    behind.last().map_or(end, |slice| slice.end)
}

fn lay(path: &mut Path, (begin, end): (u64, u64), change: impl Fn(&Slice) -> Slice) {
    let span = Span::new(Nanos::new(begin), Nanos::new(end));
    overlay(&mut path.slices, &[span], |slice| {
        is_open(slice).then(|| change(slice))
    });
}

/// What name servers replied, in order of time: from when on a question had been without a reply.
fn replies(inside: &Inside<'_>) -> Vec<Ends> {
    let sockets = &inside.index.sockets;
    let mut all = Vec::new();
    for socket in 0..sockets.len() {
        let end = sockets.end(socket);
        let asks = end
            .is_some_and(|end| inside.trace().is_resolver(end.remote) && !inside.is_clients(end));
        if !asks {
            continue;
        }
        let (mut asked, mut open) = (None, 0_usize);
        for traffic in sockets.traffic(socket) {
            match traffic.kind {
                TrafficKind::Wrote if inside.is_targets(traffic.tid) => {
                    asked = asked.filter(|_| open > 0).or(Some(traffic.at));
                    open += 1;
                }
                TrafficKind::Read => {
                    open = open.saturating_sub(1);
                    all.extend(asked.map(|asked| Ends {
                        span: (asked, traffic.at),
                        socket,
                    }));
                }
                TrafficKind::Wrote | TrafficKind::Arrived => {}
            }
        }
    }
    all.sort_unstable_by_key(|ends| ends.span.1);
    all
}

/// When a loop woke up because a time had come. Timers of the kernel fire in the hard interrupt. Since when they were set is not known.
fn times(inside: &Inside<'_>, tid: u32) -> Vec<Ends> {
    let offs = inside.index.offs(tid, 0, u64::MAX).iter();
    let by_time = offs.filter(|off| {
        off.why == Why::Sleeping
            && off.context == Some(Context::Hardirq)
            && inside.stacks.call_in(off) == Some(Call::Poll)
    });
    let ends = by_time.map(|off| Ends {
        span: (0, off.end),
        socket: 0,
    });
    ends.collect()
}

/// What a thread reads or writes first after an instant, before it waits again.
fn first_word(inside: &Inside<'_>, tid: u32, at: u64) -> Option<Mark> {
    let index = &inside.index;
    let mark = index.marks(tid, at, u64::MAX).first().copied()?;
    let waits = |begin: u64, end: u64| {
        let mut offs = index.offs(tid, begin, end).iter();
        offs.any(|off| off.begin >= begin && off.why == Why::Sleeping)
    };
    (!waits(at, mark.at)).then_some(mark)
}

/// Whether that is a word of a request: it asks, or is answered.
fn is_of(own: &Own<'_>, walked: &Walked, mark: &Mark) -> bool {
    let asks = |at: u64| own.calls.iter().any(|call| call.begin == at);
    mark.wrote && (mark.socket == walked.joined.socket || asks(mark.at))
}

#[cfg(test)]
mod tests {
    use slowpath_attribution::{Phase, Place, Reason};
    use slowpath_core::nanos::MILLISECOND as MS;

    use super::*;

    /// A request that waits from one instant to another, after which its loop does something else first.
    fn path(begin: u64, end: u64) -> Path {
        let slice = |begin, end, state| Slice {
            begin,
            end,
            phase: Phase::Service,
            state,
            holder: Holder::Unknown,
            activity: state,
            actor: 0,
            basis: Basis::Traced,
        };
        let later = end + 4 * MS;
        Path {
            sample: 0,
            slow: true,
            weight: 1.0,
            slices: vec![
                slice(begin, end, State::Unknown(Reason::LoopWaits)),
                slice(end, later, State::Queued(Place::EventLoop)),
                slice(later, later + MS, State::OnCpu),
            ],
        }
    }

    #[test]
    fn a_request_goes_on_when_its_loop_has_done_with_others() {
        assert_eq!(goes_on_at(&path(10 * MS, 80 * MS), 80 * MS), 84 * MS);
    }

    #[test]
    fn waits_that_end_with_what_was_under_way_are_a_habit() {
        let paths: Vec<Path> = (0..WAITS_LEAST as u64)
            .map(|n| path(n * 1_000 * MS, (n * 1_000 + 70) * MS))
            .collect();
        let ends = |begin: u64, end: u64| -> Vec<Ends> {
            let one = |n: u64| Ends {
                span: ((n * 1_000 + begin) * MS, (n * 1_000 + end) * MS),
                socket: 1,
            };
            (0..WAITS_LEAST as u64).map(one).collect()
        };
        let found = |all: &[Ends], of: &[Path]| habit(of, OVER_CHANCE, |_| all, |_, _| true).len();
        assert_eq!(found(&ends(1, 74), &paths), WAITS_LEAST);
        assert_eq!(found(&ends(1, 74), &paths[1..]), 0, "too few");
        assert_eq!(found(&ends(60, 74), &paths), 0, "for too short a part");
        assert_eq!(found(&ends(1, 50), &paths), 0, "over before");
        // The request does not go on with that.
        let all = ends(1, 74);
        assert!(habit(&paths, OVER_CHANCE, |_| &all, |_, _| false).is_empty());
    }
}
