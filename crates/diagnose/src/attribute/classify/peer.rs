//! What a request waits for at another server: its reply, a lock that it has for another request, or an acknowledgement.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use slowpath_attribution::{DiskUse, Holder, Reason, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, NO_STACK};

use super::{Classifier, Seen};
use crate::overlap::merged;
use crate::trace::calls::Calls;
use crate::trace::index::{State as Doing, TrafficKind};
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
        let mut seen = Seen::of(State::Reply, Holder::Peer, 0, NO_STACK);
        seen.who.peer = inside.other_end(socket).unwrap_or_default();
        let other = inside.index.sockets.other(socket);
        let traffic = other.map_or(&[][..], |other| {
            inside.index.sockets.between(other, begin, end)
        });
        let Some(asked) = traffic.iter().find(|t| t.kind == TrafficKind::Read) else {
            return seen;
        };
        let offs = inside.index.offs(asked.tid, begin, end);
        let Some(longest) = offs.iter().max_by_key(|off| off.end.saturating_sub(off.begin)) else {
            return seen;
        };
        let is_most = 2 * longest.end.min(end).saturating_sub(longest.begin.max(begin)) > end - begin;
        let program = inside.process_name(asked.tid);
        let of_program = |tid: &u32| {
            *tid != asked.tid && inside.process_name(*tid) == program && !inside.is_targets(*tid)
        };
        if let Some(holder) = longest.woken_by().filter(|tid| is_most && of_program(tid)) {
            let (from, until) = (longest.begin.max(begin), longest.end.min(end));
            seen.state = State::Lock;
            seen.holder = Holder::AnotherRequest;
            seen.activity = self.most_of(holder, (from, until));
            seen.who.tid = holder;
        }
        seen
    }

    /// What a thread of another program did for most of a time.
    fn most_of(&self, tid: u32, (begin, end): (u64, u64)) -> State {
        let mut sums: BTreeMap<State, u64> = BTreeMap::new();
        for slice in self.inside.index.slices(tid, begin, end) {
            let state = match slice.state {
                Doing::Run | Doing::Ready(_) => State::OnCpu,
                Doing::Blocked(off) => match self.inside.stacks.call_in(off) {
                    Some(Call::Read | Call::Poll) => State::Client,
                    Some(Call::Sleep) => State::Sleep,
                    Some(Call::Sync) => State::Disk(DiskUse::Sync),
                    Some(Call::Futex) => State::Lock,
                    _ => State::Unknown(Reason::NotSeen),
                },
                Doing::Gone | Doing::Unknown => State::Unknown(Reason::NotSeen),
            };
            let own = sums.entry(state).or_default();
            *own = own.saturating_add(slice.end - slice.begin);
        }
        let most = sums.into_iter().max_by_key(|(_, ns)| *ns);
        most.map_or(State::Unknown(Reason::NotSeen), |(state, _)| state)
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
        let back = (place + 1..hops.len()).find(|&at| self.serves_another(walked, hops[at].tid));
        let (state, holder, at) = match back {
            Some(at) => (State::Lock, Holder::AnotherRequest, at),
            None => (State::Reply, Holder::Peer, place),
        };
        let mut seen = Seen {
            state,
            holder,
            ..self.doing(piece, hops, at, leaf)
        };
        seen.who.peer = self.peer_of(hops[place].tid);
        seen
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
        let Some(other) = sockets.other(socket) else {
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
