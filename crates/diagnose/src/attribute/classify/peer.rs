//! What a request waits for at another server: its reply, a lock that it has for another request, or an acknowledgement.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use slowpath_attribution::{Holder, Place, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, NO_STACK, is_unix};

use super::{Classifier, Seen};
use crate::overlap::merged;
use crate::trace::calls::Calls;
use crate::trace::index::{Off, State as Doing, TrafficKind};
use crate::trace::inside::{Inside, Walked};
use crate::trace::pieces::{Hop, Piece};

/// For so long an acknowledgement is delayed: 40 ms at least less a jiffy, and less than 200 ms (`TCP_DELACK_MIN` and
/// `TCP_DELACK_MAX`, include/net/tcp.h).
const DELAYED_NS: RangeInclusive<u64> = 36_000_000..=190_000_000;

/// On one host data arrives within this …
const AT_ONCE_NS: u64 = 5_000_000;
/// … for this share of what is written at least, where arrivals are recorded: of two pieces the first.
const AT_ONCE_LEAST: f64 = 0.3;

impl Classifier<'_, '_> {
    /// A wait for a reply on a connection: for a lock of that server, if the thread that reads the question there waits for most
    /// of the time until another thread of it wakes it up.
    pub(super) fn reply(&self, socket: u32, (begin, end): (u64, u64)) -> Seen {
        let inside = self.inside;
        let other = inside.index.sockets.other(socket);
        let traffic = other.map_or(&[][..], |other| {
            inside.index.sockets.between(other, begin, end)
        });
        let asked = traffic.iter().find(|t| t.kind == TrafficKind::Read);
        let holder = asked.and_then(|asked| self.open_transaction(asked.tid, (begin, end)));
        let mut seen = holder.map_or_else(
            || Seen::of(State::Reply, Holder::Peer, 0, NO_STACK),
            Self::held_open,
        );
        seen.who.peer = inside.other_end(socket).unwrap_or_default();
        seen
    }

    /// The session that keeps a thread of another program waiting: that one waits for most of a time until another thread of its
    /// program wakes it up, and that one waits for its own client until then: it has a transaction open.
    fn open_transaction(&self, tid: u32, (begin, end): (u64, u64)) -> Option<u32> {
        let inside = self.inside;
        if inside.trace().parks(tid) {
            return None;
        }
        let offs = inside.index.offs(tid, begin, end);
        let within = |off: &Off| off.end.min(end).saturating_sub(off.begin.max(begin));
        let longest = offs.iter().max_by_key(|off| within(off))?;
        let holder = longest.woken_by()?;
        let is_session = holder != tid
            && inside.process_name(holder) == inside.process_name(tid)
            && !inside.is_targets(holder)
            && 2 * within(longest) > end - begin;
        // It has answered its client and waits for what that one says next.
        let middle = longest.begin + (longest.end - longest.begin) / 2;
        let has_answered = || {
            let last = inside.index.last_mark(holder, middle);
            last.is_some_and(|mark| mark.wrote && inside.serves(mark.socket))
        };
        let is_open =
            || has_answered() && self.waits_for_data(holder, (longest.begin, longest.end));
        (is_session && is_open()).then_some(holder)
    }

    /// Whether a thread waits for data for most of a time.
    fn waits_for_data(&self, tid: u32, (begin, end): (u64, u64)) -> bool {
        let slices = self.inside.index.slices(tid, begin, end);
        let waits = slices.iter().filter(|slice| match slice.state {
            Doing::Blocked(off) => {
                matches!(
                    self.inside.stacks.call_in(off),
                    Some(Call::Read | Call::Poll)
                )
            }
            _ => false,
        });
        2 * waits.map(|slice| slice.end - slice.begin).sum::<u64>() > end - begin
    }

    /// A request waits for a thread of another program. If that one waits in turn for a thread of the target which
    /// serves another request, this request waits for what that one holds there: a row of a
    /// database that its transaction has changed.
    pub(super) fn at_peer(
        &self,
        walked: &Walked,
        piece: &Piece,
        (hops, place): (&[Hop], usize),
        leaf: &Seen,
    ) -> Seen {
        let asked = hops[place].tid;
        let back = (place + 1..hops.len()).find(|&at| self.serves_another(walked, hops[at].tid));
        let mut seen = match back {
            // The thread that was asked serves the other request itself.
            Some(at) if at == place + 1 => Seen {
                state: State::Queued(Place::Workers),
                holder: Holder::AnotherRequest,
                ..self.doing(piece, hops, at, leaf)
            },
            Some(at) => Seen {
                state: State::Lock,
                holder: Holder::AnotherRequest,
                ..self.doing(piece, hops, at, leaf)
            },
            None => match self.open_transaction(asked, (piece.begin, piece.end)) {
                Some(holder) => Self::held_open(holder),
                None => Seen {
                    state: State::Reply,
                    holder: Holder::Peer,
                    ..self.doing(piece, hops, place, leaf)
                },
            },
        };
        seen.who.peer = self.peer_of(asked);
        seen
    }

    /// A lock that a session holds which waits for its client.
    fn held_open(session: u32) -> Seen {
        Seen {
            activity: State::Client,
            ..Seen::of(State::Lock, Holder::AnotherRequest, session, NO_STACK)
        }
    }

    /// The address at which the process of a thread is asked, or its name.
    fn peer_of(&self, tid: u32) -> String {
        let process = self.inside.process_name(tid);
        let known = self.addresses.get(process).cloned();
        known.unwrap_or_else(|| format!("process {process}"))
    }
}

/// When data was on its way between the target and another server on this host, in either direction, for as long as an
/// acknowledgement is delayed: the sender had written it, and its kernel kept it until what was sent before was acknowledged.
pub(super) fn held_back(inside: &Inside<'_>, calls: &Calls) -> BTreeMap<u32, Vec<Span>> {
    let sockets = &inside.index.sockets;
    let asked: BTreeSet<u32> = calls.all().iter().map(|call| call.socket).collect();
    let mut all = BTreeMap::new();
    for socket in asked {
        // What goes over Unix sockets is not acknowledged.
        let is_tcp = sockets.end(socket).is_some_and(|end| !is_unix(end.remote));
        let Some(other) = sockets.other(socket).filter(|_| is_tcp) else {
            continue;
        };
        let mut spans: Vec<Span> = Vec::new();
        for (from, to) in [(other, socket), (socket, other)] {
            let of = |end: u32, kind: TrafficKind| {
                let own = sockets.traffic(end).iter();
                own.filter(move |t| t.kind == kind).map(|t| t.at)
            };
            let arrivals: Vec<u64> = of(to, TrafficKind::Arrived).collect();
            let next = |wrote: u64| {
                let next = arrivals.partition_point(|&at| at < wrote);
                arrivals.get(next).map(|&at| (wrote, at))
            };
            let ways: Vec<(u64, u64)> = of(from, TrafficKind::Wrote).filter_map(next).collect();
            let is_second = |wrote: u64| {
                let own = sockets.traffic(from);
                let before = own[..own.partition_point(|t| t.at < wrote)]
                    .iter()
                    .rfind(|t| t.kind != TrafficKind::Arrived);
                before.is_some_and(|t| {
                    t.kind == TrafficKind::Wrote && wrote - t.at < *DELAYED_NS.start()
                })
            };
            // What is sent in pieces arrives at once, but for the last piece. Where nothing does, arrivals are not recorded.
            let at_once = ways.iter().filter(|(wrote, at)| at - wrote < AT_ONCE_NS);
            if (at_once.count() as f64) < AT_ONCE_LEAST * ways.len() as f64 {
                continue;
            }
            let held = ways
                .into_iter()
                .filter(|(wrote, at)| DELAYED_NS.contains(&(at - wrote)) && is_second(*wrote));
            spans.extend(held.map(|(wrote, at)| Span::new(Nanos::new(wrote), Nanos::new(at))));
        }
        spans.sort_unstable_by_key(|span| span.begin);
        all.insert(socket, merged(spans));
    }
    all
}

/// By program, where it is asked.
pub(super) fn addresses(inside: &Inside<'_>, calls: &Calls) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for call in calls.all() {
        if let (Some(program), Some(end)) = (
            inside.program_at(call.remote),
            inside.other_end(call.socket),
        ) {
            all.entry(program.to_owned()).or_insert(end);
        }
    }
    all
}
