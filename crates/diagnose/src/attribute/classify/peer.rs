//! What a request waits for at another server: its reply, a lock that it has for another request, or an acknowledgement.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use slowpath_attribution::{Holder, Phase, Place, Reason, Slice, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, NO_STACK, is_unix};

use super::{Classifier, Seen};
use crate::attribute::overlay;
use crate::engines::is_engine;
use crate::overlap::merged;
use crate::trace::calls::{Asked, Calls};
use crate::trace::index::{Mark, Slice as Did, State as Doing, TrafficKind};
use crate::trace::inside::{Inside, Walked};
use crate::trace::join::WRITE_TOLD_LATE_NS;
use crate::trace::kernel_io::Io;
use crate::trace::others::{session_before, waits_for_time, whole_wait};
use crate::trace::pieces::{Hop, Leaf, Piece};

/// For so long an acknowledgement is delayed: 40 ms at least less a jiffy, and less than 200 ms (`TCP_DELACK_MIN` and
/// `TCP_DELACK_MAX`, include/net/tcp.h).
pub(crate) const DELAYED_NS: RangeInclusive<u64> = 36_000_000..=190_000_000;

/// So many sessions that wait in front of each other are followed: a lock's queue is rarely longer.
const SESSIONS_MOST: usize = 8;
/// A write is recorded when the call returns, and by then the data has arrived on the same host: so much earlier at most, where the
/// sender is not kept off its CPU between. Of 146,154 writes of 52 recorded runs half were recorded 6 us after their arrival, 99.9 %
/// within 53 us, and 0.03 % later than this.
const RECORDED_AFTER_ARRIVAL_NS: u64 = 200_000;
/// On one host data arrives within this …
const AT_ONCE_NS: u64 = 5_000_000;
/// … for this share of what arrives at least: of two pieces the first.
const AT_ONCE_LEAST: f64 = 0.3;

impl Classifier<'_, '_> {
    /// A wait for a reply on a connection: for a lock of that server, if the thread that reads the question there waits for most
    /// of the time until another thread of it wakes it up.
    pub(super) fn reply(&self, socket: u32, span: (u64, u64)) -> Seen {
        if let Some(known) = self.replies.borrow().get(&(socket, span)) {
            return known.clone();
        }
        let seen = self.find_reply(socket, span);
        self.replies
            .borrow_mut()
            .insert((socket, span), seen.clone());
        seen
    }

    fn find_reply(&self, socket: u32, (begin, end): (u64, u64)) -> Seen {
        let inside = self.inside;
        let other = inside.index.sockets.other(socket);
        let traffic = other.map_or(&[][..], |other| {
            inside.index.sockets.between(other, begin, end)
        });
        let asked = traffic.iter().find(|t| t.kind == TrafficKind::Read);
        let held = asked.and_then(|asked| self.held_by_session(asked.tid, (begin, end)));
        let mut seen =
            held.unwrap_or_else(|| Seen::of(State::Reply, self.replier(socket), 0, NO_STACK));
        let activity = asked.and_then(|asked| does_mostly(inside, asked.tid, (begin, end)));
        if let Some(activity) = activity.filter(|_| seen.state == State::Reply) {
            seen.activity = activity;
        }
        seen.who.peer = inside.other_end(socket).unwrap_or_default();
        seen
    }

    /// The connection at which a thread waits for a reply that looks again and again whether it is there (psycopg does so each 100 ms, to
    /// handle signals in between).
    pub(super) fn polled_for(&self, leaf: &Leaf, piece: &Piece) -> Option<u32> {
        if self.inside.loops.has(leaf.tid) || self.inside.index.parks(leaf.tid) {
            return None;
        }
        let call = self.calls.in_call(leaf.tid, piece.begin)?;
        let sockets = &self.inside.index.sockets;
        let mut before = sockets.between(call.socket, call.begin, piece.begin).iter();
        let is_answered = before.any(|t| t.kind == TrafficKind::Read);
        (call.end >= piece.end && !is_answered).then_some(call.socket)
    }

    /// Who replies on a connection.
    pub(super) fn replier(&self, socket: u32) -> Holder {
        let inside = self.inside;
        let end = inside.index.sockets.end(socket);
        if end.is_some_and(|end| inside.trace().is_resolver(end.remote)) {
            Holder::Resolver
        } else {
            Holder::Peer
        }
    }

    /// What a thread of another program waits for, if another session there holds it: a lock, for most of a time. It waits until another
    /// thread of its program wakes it up, and for most of that time this one works for its own client, as does one that it waits for
    /// itself: a lock's queue has its holder at the head.
    fn held_by_session(&self, tid: u32, span: (u64, u64)) -> Option<Seen> {
        if let Some(known) = self.held.borrow().get(&(tid, span)) {
            return known.clone();
        }
        let held = self.find_session(tid, span);
        self.held.borrow_mut().insert((tid, span), held.clone());
        held
    }

    fn find_session(&self, tid: u32, span: (u64, u64)) -> Option<Seen> {
        let (first, waited) = session_before(self.inside, tid, span)?;
        let waited_ns = waited.1 - waited.0;
        if 2 * waited_ns <= span.1 - span.0 {
            return None;
        }
        // Threads of other programs hand work to each other: that one computes for another is no lock there. One that sleeps, or
        // waits for a disk, may do so for both (a commit that others join).
        let is_engine = is_engine(self.inside.process_name(tid));
        let (mut session, mut during) = (first, waited);
        let (mut open_ns, mut runs_ns) = (0, 0);
        let mut met = BTreeSet::from([tid]);
        while met.insert(session) && met.len() <= SESSIONS_MOST {
            open_ns += self.open_ns(session, during);
            if is_engine && self.has_client(session, during) {
                runs_ns += runs_ns_of(self.inside, session, during);
            }
            if 2 * (open_ns + runs_ns) > waited_ns {
                let activity = if open_ns >= runs_ns {
                    State::Client
                } else {
                    State::OnCpu
                };
                return Some(Seen {
                    activity,
                    ..Seen::of(State::Lock, Holder::AnotherRequest, first, NO_STACK)
                });
            }
            (session, during) = session_before(self.inside, session, during)?;
        }
        None
    }

    /// Whether a thread serves a client in a time: it has a question then, or answers one. One that does not is a helper.
    fn has_client(&self, session: u32, (begin, end): (u64, u64)) -> bool {
        let last = self.inside.index.last_mark(session, end);
        let is_its = |mark: &Mark| !mark.wrote || mark.at >= begin;
        last.is_some_and(|mark| self.inside.serves(mark.socket) && is_its(&mark))
    }

    /// For how long of a time a session has answered its client, and waits for what that one says next.
    fn open_ns(&self, session: u32, (begin, end): (u64, u64)) -> u64 {
        let inside = self.inside;
        let has_answered = |at: u64| {
            let last = inside.index.last_mark(session, at);
            last.is_some_and(|mark| mark.wrote && inside.serves(mark.socket))
        };
        let slices = inside.index.slices(session, begin, end);
        let open = slices
            .iter()
            .filter(|slice| waits_for_data(inside, slice) && has_answered(slice.end));
        open.map(|slice| slice.end - slice.begin).sum()
    }

    /// A request waits for a thread of another program. If that one itself waits for a thread of the target which
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
        if self
            .inside
            .waits_for_datagrams(hops[place - 1].tid, piece.begin)
        {
            let mut seen = Seen {
                state: State::SendBlocked,
                holder: Holder::Peer,
                ..self.doing(piece, hops, place, leaf)
            };
            seen.who.peer = self.peer_of(asked);
            return seen;
        }
        let back = (place + 1..hops.len()).find(|&at| self.serves_another(walked, hops[at].tid));
        // An event loop that waits for whatever comes next is woken by what others ask, and does not wait for that.
        let back = back.filter(|&at| at > place + 1 || !self.waits_for_any(asked, piece.begin));
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
            None => match self.held_by_session(
                asked,
                whole_wait(self.inside, asked, (piece.begin, piece.end)),
            ) {
                Some(seen) => seen,
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

    /// Lays the time in which data was held back until what was sent before was acknowledged over the wait for a reply.
    pub(super) fn lay_acknowledgements_over(&self, call: &Asked, slices: &mut Vec<Slice>) {
        let spans = self.held_back.get(&call.socket);
        let spans = spans.map_or(&[][..], Vec::as_slice);
        // What was written before the question is of another answer.
        let first = spans.partition_point(|span| span.begin.get() < call.begin);
        let last = spans.partition_point(|span| span.begin.get() < call.end);
        overlay(slices, &spans[first.min(last)..last], |slice| {
            (slice.state == State::Reply).then_some(acknowledged(slice))
        });
    }

    /// The same for the slices of a part of a request in which a thread waits for what another program says: that one is asked on the
    /// connection on which the thread, or the last one of the target's that the request waits for, wrote last.
    pub(super) fn lay_acknowledgements_over_piece(
        &self,
        piece: &Piece,
        hops: &[Hop],
        slices: &mut Vec<Slice>,
    ) {
        let mut targets = hops.iter().rev();
        let Some(waits) = targets.find(|hop| self.inside.is_targets(hop.tid)) else {
            return;
        };
        let until = piece.begin + WRITE_TOLD_LATE_NS;
        let asked = self.inside.index.last_mark(waits.tid, until.min(piece.end));
        let spans = asked
            .filter(|mark| mark.wrote)
            .and_then(|mark| self.held_back.get(&mark.socket));
        let spans = spans.map_or(&[][..], Vec::as_slice);
        overlay(slices, spans, |slice| {
            (slice.state == State::Reply).then_some(acknowledged(slice))
        });
    }

    /// A wait for data, or until data is taken.
    pub(super) fn data(&self, walked: &Walked, piece: &Piece, io: Option<Io>) -> Seen {
        let leaf = &piece.leaf;
        let socket = self.inside.awaited_at(leaf.tid, piece.begin);
        let own = socket == Some(walked.joined.socket);
        let mut seen = Seen::of(
            State::Unknown(Reason::OtherEnd),
            Holder::Unknown,
            leaf.tid,
            leaf.stack,
        );
        if leaf.call == Some(Call::Write)
            || matches!(io, Some(Io::Pipe | Io::Terminal | Io::Datagram))
        {
            let to_client = own || socket.is_none() && io.is_none();
            (seen.state, seen.holder) = if to_client {
                (State::Client, Holder::Client)
            } else {
                (State::SendBlocked, Holder::Peer)
            };
        } else if own && piece.segment == Phase::Service {
            (seen.state, seen.holder) = (State::Client, Holder::Client);
        } else if let Some(socket) = socket {
            let clients = self
                .inside
                .index
                .sockets
                .end(socket)
                .is_some_and(|end| self.inside.is_clients(end));
            if clients {
                return self.loop_waits(walked, piece);
            }
            seen.who.peer = self.inside.other_end(socket).unwrap_or_default();
            // Another process of the server is no other server: what that one does is the server's doing.
            if !self.inside.is_internal(socket) {
                (seen.state, seen.holder) = (State::Reply, self.replier(socket));
            }
        }
        seen.activity = seen.state;
        seen
    }

    /// Whether a thread waits for events of many files at an instant.
    fn waits_for_any(&self, tid: u32, at: u64) -> bool {
        let offs = self.inside.index.offs(tid, at, at.saturating_add(1));
        let off = offs.first();
        off.is_some_and(|off| self.inside.stacks.facts(off.stack).events)
    }

    /// Whether a thread waits for events of many files at an instant, or may.
    pub(super) fn may_wait_for_any(&self, tid: u32, at: u64) -> bool {
        let offs = self.inside.index.offs(tid, at, at.saturating_add(1));
        offs.first()
            .is_none_or(|off| match self.inside.stacks.call_in(off) {
                Some(Call::Poll) | None => {
                    off.stack == NO_STACK || self.inside.stacks.facts(off.stack).events
                }
                Some(_) => false,
            })
    }

    /// The address at which the process of a thread is asked, or its name.
    fn peer_of(&self, tid: u32) -> String {
        let process = self.inside.process_name(tid);
        let known = self.addresses.get(process).cloned();
        known.unwrap_or_else(|| format!("process {process}"))
    }
}

/// A wait for a reply that is one for an acknowledgement.
pub(super) const fn acknowledged(slice: &Slice) -> Slice {
    Slice {
        state: State::DelayedAck,
        holder: Holder::Kernel,
        activity: State::DelayedAck,
        ..*slice
    }
}

/// Whether a thread waits for data.
fn waits_for_data(inside: &Inside<'_>, slice: &Did<'_>) -> bool {
    match slice.state {
        Doing::Blocked(off) => matches!(inside.stacks.call_in(off), Some(Call::Read | Call::Poll)),
        _ => false,
    }
}

/// What a thread does for most of a time, if it computes or waits for a time to come.
pub(in crate::attribute) fn does_mostly(
    inside: &Inside<'_>,
    tid: u32,
    (begin, end): (u64, u64),
) -> Option<State> {
    let (mut runs_ns, mut sleeps_ns) = (0, 0);
    for slice in inside.index.slices(tid, begin, end) {
        let ns = slice.end - slice.begin;
        match slice.state {
            Doing::Run => runs_ns += ns,
            Doing::Blocked(off) => {
                sleeps_ns += if waits_for_time(inside, off) { ns } else { 0 };
            }
            _ => {}
        }
    }
    let is_most = |ns: u64| 2 * ns > end - begin;
    if is_most(runs_ns) {
        Some(State::OnCpu)
    } else {
        is_most(sleeps_ns).then_some(State::Sleep)
    }
}

/// For how long of a time a thread computes, or could if it had a CPU.
fn runs_ns_of(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> u64 {
    let slices = inside.index.slices(tid, begin, end);
    let runs = slices
        .iter()
        .filter(|slice| matches!(slice.state, Doing::Run | Doing::Ready(_)));
    runs.map(|slice| slice.end - slice.begin).sum()
}

/// Whether a thread waits for data for most of a time.
fn has_waited(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> bool {
    let slices = inside.index.slices(tid, begin, end);
    let waits = slices.iter().filter(|slice| waits_for_data(inside, slice));
    2 * waits.map(|slice| slice.end - slice.begin).sum::<u64>() > end - begin
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
        let mut spans = held_on_the_way(inside, other, socket);
        spans.extend(held_on_the_way(inside, socket, other));
        spans.sort_unstable_by_key(|span| span.begin);
        all.insert(socket, merged(spans));
    }
    all
}

/// The same for what one end of a connection writes to the other.
fn held_on_the_way(inside: &Inside<'_>, from: u32, to: u32) -> Vec<Span> {
    let sockets = &inside.index.sockets;
    let of = |end: u32, kind: TrafficKind| {
        let own = sockets.traffic(end).iter();
        own.filter(move |t| t.kind == kind).map(|t| t.at)
    };
    let wrote: Vec<u64> = of(from, TrafficKind::Wrote).collect();
    let arrivals: Vec<u64> = of(to, TrafficKind::Arrived).collect();
    let at_once = |&&at: &&u64| {
        let first = wrote.partition_point(|&wrote| wrote < at - AT_ONCE_NS.min(at));
        wrote
            .get(first)
            .is_some_and(|&wrote| wrote < at + WRITE_TOLD_LATE_NS)
    };
    let count = arrivals.iter().filter(at_once).count();
    if (count as f64) < AT_ONCE_LEAST * arrivals.len() as f64 {
        return Vec::new();
    }
    let is_second = |wrote: u64| {
        let own = sockets.traffic(from);
        let before = own[..own.partition_point(|t| t.at < wrote)]
            .iter()
            .rfind(|t| t.kind != TrafficKind::Arrived);
        before.is_some_and(|t| t.kind == TrafficKind::Wrote && wrote - t.at < *DELAYED_NS.start())
    };
    // Whether what arrives is what is recorded as written just after: no other arrival lies between.
    let is_of_next = |at: u64, next: u64| {
        let later = arrivals.partition_point(|&arrival| arrival <= at);
        let is_last = arrivals.get(later).is_none_or(|&later| later > next);
        is_last && next - at <= RECORDED_AFTER_ARRIVAL_NS
    };
    // What arrives now was written last then, and lay in the sender's kernel since. Not every arrival is recorded:
    // a thread that waits for data reads it as soon as it is there.
    let held = sockets.traffic(to).iter().filter_map(|t| {
        let next = wrote.partition_point(|&wrote| wrote <= t.at);
        if wrote.get(next).is_some_and(|&next| is_of_next(t.at, next)) {
            return None;
        }
        let wrote = wrote[next.checked_sub(1)?];
        let way = (wrote, t.at);
        // The piece before may be read after this one was written.
        let later = || sockets.between(to, wrote + AT_ONCE_NS, t.at + 1);
        let is_first = || later().first() == Some(t);
        let arrives = || match t.kind {
            TrafficKind::Arrived => true,
            TrafficKind::Read => is_first() && has_waited(inside, t.tid, way),
            TrafficKind::Wrote => false,
        };
        (DELAYED_NS.contains(&(t.at - wrote)) && is_second(wrote) && arrives())
            .then(|| Span::new(Nanos::new(wrote), Nanos::new(t.at)))
    });
    held.collect()
}

/// By process ([`Inside::process_name`]), where it is asked.
pub(super) fn addresses(inside: &Inside<'_>, calls: &Calls) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for call in calls.all() {
        if let Some((tid, end)) = inside
            .asked_at(call.remote)
            .zip(inside.other_end(call.socket))
        {
            all.entry(inside.process_name(tid).to_owned())
                .or_insert(end);
        }
    }
    all
}
