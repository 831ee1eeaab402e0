//! What the target asked of others, by its own connections: from the first byte that it wrote to the
//! last of the reply.
//!
//! A thread that serves one connection at a time asks for the request that it serves. A loop, or
//! a runtime that parks what waits in user space, asks for many at once: what belongs to which is then
//! known of requests that have the target for themselves. So it is of a thread that talks to others for
//! those that serve. A loop asks again, or answers, when it has read a reply: if what it read before each
//! step leads back to the request, the steps are the request's (`steps`). Of the others a call is the request's that it
//! fits in time, if it fits no other (`owner`), and the one whose reply was read last, by the thread that answered at
//! once, without anything else in between. What the target asks as often when it has no request belongs to none.
//!
//! What is asked of a resolver is a call like any other, and is kept apart: names are looked up on the way
//! to another server.

mod again;
mod background;
mod in_turn;
pub(crate) mod lines;
pub(crate) mod lookups;
pub(crate) mod names;
mod owner;
pub(crate) mod questions;
pub(crate) mod retried;
pub(crate) mod rows;
mod settled;
mod steps;
pub(crate) mod unanswered;
pub(crate) mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use slowpath_core::nanos::Nanos;
use slowpath_core::trace::Role;

pub(crate) use settled::{Part, during, settled};

use self::owner::Owners;
use super::index::{Mark, TrafficKind};
use super::inside::{Inside, Walked};
use super::join::{Joined, WRITE_TOLD_LATE_NS};
use super::pieces::{Hop, How};
use crate::case::Case;
use crate::diagnosis::Phase;

/// So many calls that a thread has under way at a time are examined: one that waits for a reply, as those do that are asked about, has one.
const AT_ONCE_MOST: usize = 16;

/// Something that was asked of another, and the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The target's end of the connection.
    pub(crate) socket: u32,
    /// The other end.
    pub(crate) remote: SocketAddr,
    /// The thread that asked.
    pub(crate) tid: u32,
    /// When it began to ask.
    pub(crate) begin: u64,
    /// When the last of the reply was read.
    pub(crate) end: u64,
}

/// All that the target asked of others.
#[derive(Debug)]
pub(crate) struct Calls {
    /// In order of their ends.
    all: Vec<Asked>,
    /// Positions in `all`, by the thread that asked.
    by_thread: BTreeMap<u32, Vec<usize>>,
    /// Positions in `all`, by the target's end of the connection.
    by_socket: BTreeMap<u32, Vec<usize>>,
    /// Requests that had the target for themselves: positions in the record's samples, ascending.
    alone: Vec<u32>,
    /// Who is asked whether or not there is a request.
    background: BTreeSet<SocketAddr>,
    /// Those that are asked for names.
    resolvers: BTreeSet<SocketAddr>,
    /// Whether any other server is asked.
    are_others: bool,
    /// For which requests calls were made, where threads do not say.
    owners: Owners,
}

/// What a request asked of others.
pub(crate) struct Own<'a> {
    /// In order of their ends.
    pub(crate) calls: Vec<&'a Asked>,
    /// Whether these are all.
    pub(crate) whole: bool,
}

impl Calls {
    /// Finds them.
    pub(crate) fn of(case: &Case<'_>, inside: &Inside<'_>) -> Self {
        let index = &inside.index;
        let mut all = Vec::new();
        for socket in (0..index.sockets.len()).filter(|&socket| inside.asks(socket)) {
            match in_turn::calls(inside, socket) {
                Some(calls) => all.extend(calls),
                None => replies(inside, socket, &mut all),
            }
        }
        all.sort_unstable_by_key(|call| (call.end, call.begin, call.socket));
        let mut by_thread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let mut by_socket: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (place, call) in all.iter().enumerate() {
            by_thread.entry(call.tid).or_default().push(place);
            by_socket.entry(call.socket).or_default().push(place);
        }
        let alone = if all.is_empty() {
            Vec::new()
        } else {
            alone(case)
        };
        let background = background::of(case, &index.blocks, &all);
        let remotes: BTreeSet<SocketAddr> = all.iter().map(|call| call.remote).collect();
        let (resolvers, others): (BTreeSet<SocketAddr>, BTreeSet<SocketAddr>) = remotes
            .into_iter()
            .partition(|&remote| inside.trace().is_resolver(remote));
        let mut calls = Self {
            all,
            by_thread,
            by_socket,
            alone,
            background,
            resolvers,
            are_others: !others.is_empty(),
            owners: Owners::default(),
        };
        calls.owners = Owners::of(case, inside, &calls);
        calls
    }

    /// Every call, in order of their ends.
    pub(crate) fn all(&self) -> &[Asked] {
        &self.all
    }

    /// What a thread had asked at an instant, of which it had not read the whole reply; the one that ends first.
    pub(crate) fn in_call(&self, tid: u32, at: u64) -> Option<&Asked> {
        let own = self.by_thread.get(&tid)?;
        let first = own.partition_point(|&place| self.all[place].end <= at);
        let later = own[first..].iter().map(|&place| &self.all[place]);
        later.take(AT_ONCE_MOST).find(|call| call.begin < at)
    }

    /// The threads that asked.
    pub(crate) fn asking(&self) -> impl Iterator<Item = u32> {
        self.by_thread.keys().copied()
    }

    /// Whether the target was not seen to call a server, but for names.
    pub(crate) const fn is_empty(&self) -> bool {
        !self.are_others
    }

    /// How many calls are under way on average, in so many nanoseconds that were traced; but those that are under
    /// way whether or not there is a request.
    pub(crate) fn mean_under_way(&self, traced_ns: u64) -> f64 {
        let own = self
            .all
            .iter()
            .filter(|call| !self.background.contains(&call.remote));
        let all: u64 = own.map(|call| call.end - call.begin).sum();
        all as f64 / traced_ns.max(1) as f64
    }

    /// What is known to have been asked for a request, but for names.
    pub(crate) fn own(&self, inside: &Inside<'_>, walked: &Walked) -> Own<'_> {
        let mut own = self.known(inside, walked);
        own.calls
            .retain(|call| !self.resolvers.contains(&call.remote));
        own
    }

    /// The names that are known to have been asked for a request.
    pub(crate) fn names(&self, inside: &Inside<'_>, walked: &Walked) -> Own<'_> {
        let mut own = self.known(inside, walked);
        own.calls
            .retain(|call| self.resolvers.contains(&call.remote));
        own
    }

    /// Whether a call, by its position in [`Self::all`], is one of a request or may be: it was begun while the request was served,
    /// and nothing says for which one.
    pub(crate) fn may_be_of(&self, own: &Own<'_>, walked: &Walked, call: usize) -> bool {
        let asked = &self.all[call];
        let is_this = |own: &&Asked| (own.socket, own.begin) == (asked.socket, asked.begin);
        let (begin, end) = walked.joined.part(Phase::Service);
        own.calls.iter().any(is_this)
            || !self.owners.is_known(call) && (begin..end).contains(&asked.begin)
    }

    /// The request, by its position in the record's samples, that a call was made for, where threads do not say; `None` if it is not
    /// known. The call is given by its position in [`Self::all`].
    pub(crate) fn owner(&self, call: usize) -> Option<u32> {
        self.owners.owner(call)
    }

    /// What is known to have been asked for a request, names among it.
    pub(crate) fn known(&self, inside: &Inside<'_>, walked: &Walked) -> Own<'_> {
        let joined = &walked.joined;
        if !inside.is_shared(walked) {
            return self.of_threads(inside, walked);
        }
        let is_loop = inside.loops.has(joined.reader);
        let alone = self.is_alone(walked);
        if let Some(calls) = self.steps(inside, walked).filter(|_| !alone && is_loop) {
            return Own { calls, whole: true };
        }
        let (begin, end) = joined.part(Phase::Service);
        let first = self.all.partition_point(|call| call.end < begin);
        let calls = (first..self.all.len()).take_while(|&call| self.all[call].end <= end);
        let within: Vec<usize> = calls
            .filter(|&call| self.all[call].begin >= begin)
            .collect();
        let is_background = |&call: &usize| self.background.contains(&self.all[call].remote);
        if alone {
            let own = within.iter().filter(|call| !is_background(call));
            let calls: Vec<&Asked> = own.map(|&call| &self.all[call]).collect();
            let whole = calls.len() == within.len();
            return Own { calls, whole };
        }
        let own = self.owners.calls(joined.sample);
        let mut calls: Vec<&Asked> = own.iter().map(|&call| &self.all[call]).collect();
        calls.sort_unstable_by_key(|call| (call.end, call.begin, call.socket));
        let whole = within.iter().all(|&call| self.owners.is_known(call));
        Own { calls, whole }
    }

    /// The same, where a thread serves one connection at a time.
    fn of_threads(&self, inside: &Inside<'_>, walked: &Walked) -> Own<'_> {
        let joined = &walked.joined;
        let (begin, end) = joined.part(Phase::Service);
        let threads = inside.threads_of(walked);
        let of_thread = |tid: &u32| self.by_thread.get(tid).map_or(&[][..], Vec::as_slice);
        let places: BTreeSet<usize> = threads
            .iter()
            .flat_map(|tid| {
                let own = of_thread(tid);
                let first = own.partition_point(|&place| self.all[place].end < begin);
                let own = own[first..].iter().copied();
                own.take_while(|&place| self.all[place].end <= end)
            })
            .collect();
        let calls = places.into_iter().map(|place| &self.all[place]);
        let own_since = |&tid: &u32| (tid, inside.own_since(tid, walked));
        let since: BTreeMap<u32, u64> = threads.iter().map(own_since).collect();
        let is_after = |call: &&Asked| since.get(&call.tid).is_some_and(|&at| call.begin >= at);
        let mut calls: Vec<&Asked> = calls.filter(is_after).collect();
        let all = calls.len();
        // Another thread talks for many: what it asks at that time may be for others.
        let alone = self.is_alone(walked);
        calls.retain(|call| {
            let reads = call.tid == joined.reader && !inside.loops.has(joined.reader);
            reads || call.tid == joined.writer || alone && !self.background.contains(&call.remote)
        });
        let whole = calls.len() == all;
        Own { calls, whole }
    }

    /// Whether a request had the target for itself.
    fn is_alone(&self, walked: &Walked) -> bool {
        self.alone.binary_search(&walked.joined.sample).is_ok()
    }

    /// Whether something else than these calls was asked on their connections at the same time, where it is not known of each for
    /// which request it was asked.
    pub(crate) fn are_shared(&self, calls: &[Asked]) -> bool {
        let (Some(first), Some(last)) = (calls.first(), calls.last()) else {
            return false;
        };
        let sockets: BTreeSet<u32> = calls.iter().map(|call| call.socket).collect();
        let on_those = sockets.iter().flat_map(|socket| {
            let own = self.by_socket.get(socket).map_or(&[][..], Vec::as_slice);
            let from = own.partition_point(|&place| self.all[place].end <= first.begin);
            let own = own[from..].iter();
            own.take_while(|&&place| self.all[place].begin < last.end)
        });
        let (own, others): (Vec<usize>, Vec<usize>) = on_those
            .copied()
            .partition(|&place| calls.contains(&self.all[place]));
        !others.is_empty() && !own.iter().all(|&place| self.owners.is_known(place))
    }

    /// The call whose reply the thread read that answered the request, just before it did: between the two it
    /// read and wrote nothing else, and did not leave its CPU. What was read is what the request waited
    /// for, since what waits in user space goes on where what it waits for was read.
    fn last_step(&self, inside: &Inside<'_>, walked: &Walked) -> Option<&Asked> {
        let place = self.last_place(inside, &walked.joined)?;
        Some(&self.all[place])
    }

    /// The position of that call.
    fn last_place(&self, inside: &Inside<'_>, joined: &Joined) -> Option<usize> {
        let (begin, end) = joined.part(Phase::Service);
        let late = end.saturating_add(WRITE_TOLD_LATE_NS);
        let marks = inside.index.marks(joined.writer, begin, late);
        let answered = |mark: &Mark| mark.wrote && mark.socket == joined.socket;
        let at = marks.iter().position(answered)?;
        let read = marks.get(at.checked_sub(1)?).filter(|mark| !mark.wrote)?;
        let stayed = inside
            .index
            .offs(joined.writer, read.at, marks[at].at)
            .is_empty();
        self.read_by(read, begin).filter(|_| stayed)
    }

    /// The position of the call whose reply, or a part of it, a thread read, if it was asked since `begin`.
    fn read_by(&self, read: &Mark, begin: u64) -> Option<usize> {
        let own = self.by_socket.get(&read.socket)?;
        let first = own.partition_point(|&place| self.all[place].end < read.at);
        let place = *own.get(first)?;
        let is_since = (begin..=read.at).contains(&self.all[place].begin);
        is_since.then_some(place)
    }
}

/// The calls on one connection: a reply is over when the next is asked for.
fn replies(inside: &Inside<'_>, socket: u32, all: &mut Vec<Asked>) {
    let index = &inside.index;
    let Some(end) = index.sockets.end(socket) else {
        return;
    };
    let one_block = |call: &Asked| {
        let block = index.block_at(Nanos::new(call.begin.max(1)));
        block.is_some_and(|block| call.end <= block.span.end.get())
    };
    let mut open: Option<Asked> = None;
    let mut replied = false;
    for traffic in index.sockets.traffic(socket) {
        match traffic.kind {
            TrafficKind::Arrived => {}
            TrafficKind::Wrote => {
                if replied
                    || open.is_none_or(|call| {
                        !one_block(&Asked {
                            end: traffic.at,
                            ..call
                        })
                    })
                {
                    all.extend(open.take().filter(|call| replied && one_block(call)));
                    replied = false;
                }
                open.get_or_insert(Asked {
                    socket,
                    remote: end.remote,
                    tid: traffic.tid,
                    begin: traffic.at,
                    end: traffic.at,
                });
            }
            TrafficKind::Read => {
                if let Some(call) = &mut open {
                    call.end = traffic.at;
                    replied = true;
                }
            }
        }
    }
    all.extend(open.filter(|call| replied && one_block(call)));
}

/// The requests during which no other was under way.
fn alone(case: &Case<'_>) -> Vec<u32> {
    let samples = (0_u32..).zip(&case.record.samples);
    let spans = samples.filter_map(|(position, sample)| {
        let sent = sample.sent()?.get();
        Some((sent, sample.done().get(), position))
    });
    let mut spans: Vec<(u64, u64, u32)> = spans.collect();
    spans.sort_unstable();
    let mut busy_until = 0;
    let mut alone = Vec::new();
    for (place, &(sent, done, position)) in spans.iter().enumerate() {
        let next = spans.get(place + 1).map_or(u64::MAX, |next| next.0);
        if busy_until <= sent && done <= next {
            alone.push(position);
        }
        busy_until = busy_until.max(done);
    }
    alone.sort_unstable();
    alone
}

impl Inside<'_> {
    /// The threads of the target that read and answer a request, and those that they wait for.
    fn threads_of(&self, walked: &Walked) -> BTreeSet<u32> {
        let mut threads = BTreeSet::from([walked.joined.reader, walked.joined.writer]);
        for piece in &walked.pieces {
            let hops = self.chains.hops(piece.chain);
            let own = hops.iter().take_while(|hop| self.stays_inside(hop));
            threads.extend(own.map(|hop| hop.tid));
        }
        threads
    }

    /// Whether a thread may ask for a request: one of the request's own, or any where threads have several requests at once.
    pub(crate) fn may_ask_for(&self, tid: u32, walked: &Walked) -> bool {
        self.loops.has(walked.joined.reader)
            || self.parks(walked)
            || self.threads_of(walked).contains(&tid)
    }

    /// Whether the thread that answers a request has several at a time: the runtime parks what waits in user space, or it is an event
    /// loop. A thread that a loop has handed a request to, and that answers it itself, works for it alone until then.
    pub(crate) fn is_shared(&self, walked: &Walked) -> bool {
        let joined = &walked.joined;
        let is_workers = joined.writer != joined.reader && !self.loops.has(joined.writer);
        self.parks(walked) || self.loops.has(joined.reader) && !is_workers
    }

    /// Since when a thread has worked on a request: one that answered another one in between worked on that one until then.
    pub(crate) fn own_since(&self, tid: u32, walked: &Walked) -> u64 {
        let (begin, end) = walked.joined.part(Phase::Service);
        let marks = self.index.marks(tid, begin, end).iter().rev();
        let answered = |mark: &&Mark| mark.wrote && mark.socket != walked.joined.socket;
        let mut to_clients = marks.filter(answered).filter(|mark| {
            let end = self.index.sockets.end(mark.socket);
            end.is_some_and(|end| self.is_clients(end))
        });
        to_clients.next().map_or(begin, |mark| mark.at)
    }

    /// Whether the runtime that reads a request parks what waits in user space.
    pub(crate) fn parks(&self, walked: &Walked) -> bool {
        self.index.parks(walked.joined.reader)
    }

    /// Whether the target asks at this end of a connection: it is the target's, and the target is the
    /// one who connects.
    pub(crate) fn asks(&self, socket: u32) -> bool {
        let Some(end) = self.index.sockets.end(socket) else {
            return false;
        };
        let traffic = self.index.sockets.traffic(socket).iter();
        let mut own = traffic.filter(|t| t.kind == TrafficKind::Wrote);
        let by_target = own.next().is_some_and(|t| self.is_targets(t.tid));
        by_target && !self.is_clients(end) && !self.serves(socket) && !self.is_internal(socket)
    }

    /// Whether both ends of a connection are the target's: its processes talk to each other.
    pub(crate) fn is_internal(&self, socket: u32) -> bool {
        let sockets = &self.index.sockets;
        let mut ends = [Some(socket), sockets.other(socket)].into_iter();
        ends.all(|end| {
            let traffic = end.map_or(&[][..], |end| sockets.traffic(end));
            let met = traffic.iter().find(|t| t.kind != TrafficKind::Arrived);
            met.is_some_and(|t| self.is_targets(t.tid))
        })
    }

    /// Whether a thread that is waited for does its part of a request inside of the target.
    pub(crate) fn stays_inside(&self, hop: &Hop) -> bool {
        match hop.how {
            How::Serves | How::Asked => true,
            How::Sent => self.is_targets(hop.tid),
            _ => false,
        }
    }

    /// Whether a thread is the target's.
    pub(crate) fn is_targets(&self, tid: u32) -> bool {
        let process = self.trace().process_of(tid);
        process.is_some_and(|process| process.role == Role::Target)
    }
}
