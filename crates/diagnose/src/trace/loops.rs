//! Threads that serve several connections by turns.
//!
//! A loop takes up a connection, another one, and the first one again. A worker that serves a
//! connection to its end before it takes the next one (prefork, a thread that accepts and serves) is
//! no loop, however many connections it serves one after the other, nor is a thread that waits
//! for the next request of the one connection that it has.
//!
//! Where each request comes on a connection of its own, no connection is taken up again. Where a thread waits while it
//! has a connection decides then: a loop goes back to its wait for events of all files after it has accepted one, and a
//! worker waits for what comes on that one.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::median::median;
use slowpath_core::trace::{Call, NO_STACK};

use super::index::{Index, Off, State, TrafficKind, Why};
use super::inside::{Inside, Walked};
use super::looked::{Looked, Picked};
use super::pieces::{Behalf, LeafKind};
use super::stacks::Stacks;
use crate::diagnosis::Phase;
use crate::verdict::Claim;

/// A connection belongs to a loop if it reads this share of what comes on it, and so does what comes
/// next on all that it has read: threads of a pool take connections as they come.
const BELONGS: f64 = 0.9;
/// So many times what came next must have been seen: of two threads of a pool that share the work
/// evenly one has ten in a row once in a thousand times.
const NEXT_LEAST: u32 = 10;

/// Data wakes a thread that waits for it at once; it is recorded some microseconds later.
const WOKEN_WITHIN_NS: u64 = MILLISECOND;

/// What keeps a loop busy is long if it takes so many times what the loop needs for a request …
const TIMES_USUAL: f64 = 5.0;
/// … and at least this: what is shorter is a queue of small requests, however many there are.
const LONG_LEAST_NS: f64 = MILLISECOND as f64;
/// From this share of the waiting on, it is for long ones that requests wait, and not for a queue of short ones.
pub(crate) const MOSTLY_LONG: f64 = 0.5;

/// A connection of the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialled {
    /// What distinguishes it from others with the same port.
    pub id: u64,
    /// When the client began to make it, if that is known.
    pub at: Option<u64>,
}

/// The loops of a target, with their connections.
#[derive(Debug, Default)]
pub struct Loops(BTreeMap<u32, BTreeSet<u32>>);

impl Loops {
    /// Finds the threads that serve connections by turns. `ends` are the target's ends of the
    /// connections; `connection` says which connection an end is at an instant, since ports are used
    /// again.
    pub fn of(
        index: &Index<'_>,
        ends: &BTreeSet<u32>,
        connection: impl Fn(u32, u64) -> Dialled,
    ) -> Self {
        Self::with(index, &Stacks::of(index.trace), ends, connection)
    }

    /// The same, where it is known what the stacks of the trace show.
    pub(crate) fn with(
        index: &Index<'_>,
        stacks: &Stacks,
        ends: &BTreeSet<u32>,
        connection: impl Fn(u32, u64) -> Dialled,
    ) -> Self {
        let mut reads: BTreeMap<(u32, u64), Vec<(u64, u32)>> = BTreeMap::new();
        let mut turns: BTreeMap<u32, Turns> = BTreeMap::new();
        for tid in index.tids() {
            let mut own = Turns::default();
            let marks = index.marks(tid, 0, u64::MAX).iter();
            for mark in marks.filter(|mark| ends.contains(&mark.socket)) {
                let dialled = connection(mark.socket, mark.at);
                let which = (mark.socket, dialled.id);
                if let Some(at) = dialled.at.filter(|_| !own.met.contains_key(&which)) {
                    own.holding.look(index, stacks, tid, (at, mark.at));
                }
                own.take(which, mark.wrote);
                if !mark.wrote {
                    reads.entry(which).or_default().push((mark.at, tid));
                }
            }
            if !index.parks(tid) {
                turns.insert(tid, own);
            }
        }
        let only = only_readers(index, &reads);
        let mut of_end: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for (&(socket, _), reads) in &mut reads {
            reads.sort_unstable();
            for pair in reads.windows(2) {
                if let Some(turns) = turns.get_mut(&pair[0].1) {
                    turns.next += 1;
                    turns.kept += u32::from(pair[0].1 == pair[1].1);
                }
            }
            let by = of_end.entry(socket).or_default();
            for &(_, tid) in &*reads {
                *by.entry(tid).or_default() += 1;
            }
        }
        let mut loops: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (socket, by) in of_end {
            let all: u32 = by.values().sum();
            let most = by.iter().max_by_key(|(_, n)| **n);
            if let Some((&tid, &n)) = most
                && f64::from(n) >= BELONGS * f64::from(all)
            {
                loops.entry(tid).or_default().insert(socket);
            }
        }
        loops.retain(|tid, _| {
            let holds_in_loop = |own: &Turns| only.contains(tid) && own.holding.is_a_loops();
            let own = turns.get(tid);
            own.is_some_and(|own| own.are_a_loops() || holds_in_loop(own))
        });
        loops.retain(|&tid, own| !sleeps_on((index, stacks), tid, own, ends));
        Self(loops)
    }

    /// Whether a thread is a loop.
    pub fn has(&self, tid: u32) -> bool {
        self.0.contains_key(&tid)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a connection belongs to that loop.
    pub(crate) fn serves(&self, tid: u32, socket: u32) -> bool {
        self.0.get(&tid).is_some_and(|own| own.contains(&socket))
    }
}

/// Whether a thread goes on waiting when a request comes on one of its connections, until something comes on that of another client: it
/// waits for one at a time (`poll` of one file, with a timeout), and takes them up by turns. A loop waits for all of them; one that is
/// blocked reads what another server says next. A thread that waits for events (`epoll`) is a loop.
fn sleeps_on(
    (index, stacks): (&Index<'_>, &Stacks),
    tid: u32,
    sockets: &BTreeSet<u32>,
    ends: &BTreeSet<u32>,
) -> bool {
    let mut offs = index.offs(tid, 0, u64::MAX).iter();
    if offs.any(|off| stacks.facts(off.stack).events) {
        return false;
    }
    let (mut slept, mut woken) = (0, 0);
    for &socket in sockets {
        let traffic = index.sockets.traffic(socket);
        let next = traffic.windows(2).filter(|pair| {
            pair[0].kind == TrafficKind::Wrote && pair[1].kind == TrafficKind::Arrived
        });
        for at in next.map(|pair| pair[1].at) {
            let off = index.offs(tid, at, at.saturating_add(1)).first();
            let polls =
                |off: &&Off| off.why == Why::Sleeping && stacks.call_in(off) == Some(Call::Poll);
            if let Some(off) = off.filter(polls) {
                let is_woken = off.ready_from() <= at.saturating_add(WOKEN_WITHIN_NS);
                let next = index.marks(tid, off.end, u64::MAX).first();
                let by_client = next.is_some_and(|mark| !mark.wrote && ends.contains(&mark.socket));
                slept += u32::from(!is_woken && by_client);
                woken += u32::from(is_woken);
            }
        }
    }
    slept >= NEXT_LEAST && slept > woken
}

/// The threads that read nearly all that clients send to their process: of several that wait for the same events, another one
/// takes up what comes while one is busy.
fn only_readers(index: &Index<'_>, reads: &BTreeMap<(u32, u64), Vec<(u64, u32)>>) -> BTreeSet<u32> {
    let mut by_process: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for &(_, tid) in reads.values().flatten() {
        let own = by_process.entry(index.pid_of(tid)).or_default();
        *own.entry(tid).or_default() += 1;
    }
    let only = by_process.into_values().filter_map(|own| {
        let all: u32 = own.values().sum();
        let (tid, most) = own.into_iter().max_by_key(|(_, n)| *n)?;
        (f64::from(most) >= BELONGS * f64::from(all)).then_some(tid)
    });
    only.collect()
}

/// Where a thread waits while it has a connection that it has not read yet.
#[derive(Debug, Default)]
struct Holding {
    /// Connections during which it waited for events of many files, and for something else.
    events: u32,
    others: u32,
}

impl Holding {
    /// Looks at a connection that the client began to make at `from` and that the thread first read at `to`. A thread that
    /// was woken in between, and waits once more before it reads, has accepted it: workers have no other reason
    /// to be woken.
    fn look(&mut self, index: &Index<'_>, stacks: &Stacks, tid: u32, (from, to): (u64, u64)) {
        let offs = index.offs(tid, from, to).iter();
        let mut waits = offs.filter(|off| off.why == Why::Sleeping && off.end <= to);
        let was_woken = waits.next().is_some_and(|off| off.ready_from() >= from);
        let Some(last) = waits.next_back().filter(|_| was_woken) else {
            return;
        };
        if stacks.facts(last.stack).events {
            self.events += 1;
        } else if matches!(stacks.call_in(last), Some(Call::Poll | Call::Read)) {
            self.others += 1;
        }
    }

    /// Whether only a thread waits so that has several connections at once.
    fn is_a_loops(&self) -> bool {
        let all = self.events + self.others;
        self.events >= NEXT_LEAST && f64::from(self.events) >= BELONGS * f64::from(all)
    }
}

/// In what order a thread takes connections up.
#[derive(Debug, Default)]
struct Turns {
    /// Where it waits while it has one.
    holding: Holding,
    /// The connections that it has read, each with whether it has answered since.
    met: BTreeMap<(u32, u64), bool>,
    last: Option<(u32, u64)>,
    /// Whether it took one up, and then answered one that it had read before.
    between: bool,
    /// Whether it came back to one after it had another.
    again: bool,
    /// Requests that came next on a connection that it had read, and how many of them it read.
    next: u32,
    kept: u32,
}

impl Turns {
    fn take(&mut self, which: (u32, u64), wrote: bool) {
        let answered = self.met.get(&which).copied();
        let came_back = answered.is_some() && self.last.is_some_and(|last| last != which);
        self.between |= came_back && wrote && answered == Some(false);
        self.again |= came_back;
        if !wrote || answered.is_some() {
            self.met.insert(which, wrote);
        }
        self.last = Some(which);
    }

    /// Whether only a thread that has several connections at once does that.
    fn are_a_loops(&self) -> bool {
        let keeps = f64::from(self.kept) >= BELONGS * f64::from(self.next);
        keeps && (self.between || (self.again && self.next >= NEXT_LEAST))
    }
}

/// The parts of requests that passed while their loop did something else. A loop that could run, and is kept
/// from it, keeps no request waiting by what it does.
pub(crate) fn behind_the_loop<'c>(looked: &Looked<'c>) -> Vec<Picked<'c>> {
    let idle = IdleWaits::of(looked.inside);
    looked.pick(|walked, piece, hops| {
        piece.behalf != Behalf::Own
            && matches!(piece.segment, Phase::Unread | Phase::Service)
            && !matches!(
                piece.leaf.kind,
                LeafKind::Ready(_)
                    | LeafKind::RuntimeIdle
                    | LeafKind::RuntimeTimer
                    | LeafKind::Unknown(_)
            )
            && hops
                .first()
                .is_some_and(|hop| hop.tid == walked.joined.reader)
            && !idle.has(looked.inside, walked.joined.reader, piece.begin)
            && looked
                .inside
                .loops
                .serves(walked.joined.reader, walked.joined.socket)
    })
}

/// So many of a loop's waits for events stand where it waits when it has nothing to do: a call that blocks it may wait for events
/// as well (of a child process, in a loop of its own), and is rare.
const USUAL_LEAST: f64 = 0.2;

/// From this share of the time of waits of which it is known where the loop stands on, one of which it is not known stands at a usual
/// place: what is at most a tenth of the unknown time stays below what a cause needs (15 %).
const NEARLY_ALL: f64 = 0.9;

/// Where loops wait for events when they have nothing to do.
pub(crate) struct IdleWaits(BTreeMap<u32, Usual>);

/// Where a loop usually waits.
#[derive(Default)]
struct Usual {
    stacks: BTreeSet<u32>,
    /// Whether it hardly ever waits elsewhere.
    always: bool,
}

impl IdleWaits {
    /// Finds where each loop usually stands.
    pub(crate) fn of(inside: &Inside<'_>) -> Self {
        let stacks_of = |&tid: &u32| {
            // How often, and for how long.
            let mut waits: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
            let mut known_ns = 0;
            let offs = inside.index.offs(tid, 0, u64::MAX).iter();
            for off in offs.filter(|off| off.stack != NO_STACK && off.why == Why::Sleeping) {
                let ns = off.ready_from().saturating_sub(off.begin);
                known_ns += ns;
                if inside.stacks.facts(off.stack).events {
                    let (n, sum_ns) = waits.entry(off.stack).or_default();
                    (*n, *sum_ns) = (*n + 1, *sum_ns + ns);
                }
            }
            let all: u32 = waits.values().map(|(n, _)| n).sum();
            let is_usual = |n: u32| f64::from(n) >= USUAL_LEAST * f64::from(all);
            waits.retain(|_, (n, _)| is_usual(*n));
            let usual_ns: u64 = waits.values().map(|(_, ns)| ns).sum();
            let always = usual_ns > 0 && usual_ns as f64 >= NEARLY_ALL * known_ns as f64;
            let stacks = waits.into_keys().collect();
            (tid, Usual { stacks, always })
        };
        Self(inside.loops.0.keys().map(stacks_of).collect())
    }

    /// Whether a loop has nothing to do at an instant: whatever comes next, it keeps no request waiting.
    pub(crate) fn has(&self, inside: &Inside<'_>, tid: u32, at: u64) -> bool {
        let offs = inside.index.offs(tid, at, at.saturating_add(1));
        let Some((own, off)) = self.0.get(&tid).zip(offs.first()) else {
            return false;
        };
        let call = inside.stacks.call_in(off);
        let is_unseen = off.stack == NO_STACK && matches!(call, None | Some(Call::Poll));
        own.stacks.contains(&off.stack) || own.always && is_unseen
    }
}

/// What a request takes of its loop, in the median of those that are not slow, and from which length on it is
/// something long that the loop does.
pub(crate) fn usual_and_long_ns(looked: &Looked<'_>) -> (f64, f64) {
    let fast = looked.join.walked.iter().filter(|walked| !walked.slow);
    let mut all: Vec<f64> = fast.map(|walked| taken_ns(looked.inside, walked)).collect();
    let usual_ns = median(&mut all).unwrap_or(0.0);
    (usual_ns, LONG_LEAST_NS.max(TIMES_USUAL * usual_ns))
}

/// Whether most of this waiting is for something long that a thread does, and no queue of short requests.
pub(crate) fn are_mostly_long(looked: &Looked<'_>, claims: &[Claim]) -> bool {
    let (_, long_ns) = usual_and_long_ns(looked);
    let lengths = || claims.iter().map(|claim| claim.span.len_ns() as f64);
    let long: f64 = lengths().filter(|ns| *ns >= long_ns).sum();
    long >= MOSTLY_LONG * lengths().sum::<f64>()
}

/// The share of the time in which what a loop did is known that it did not wait for something to do, nor for
/// a CPU.
pub(crate) fn busy_share(inside: &Inside<'_>, tid: u32) -> f64 {
    let (mut busy, mut known) = (0, 0);
    for block in &inside.index.blocks {
        let (begin, end) = (block.span.begin.get(), block.span.end.get());
        for slice in inside.index.slices(tid, begin, end) {
            let len = slice.end.saturating_sub(slice.begin);
            let (is_known, is_busy) = match slice.state {
                State::Run => (true, true),
                State::Ready(_) => (true, false),
                State::Blocked(off) => match inside.stacks.call_in(off) {
                    Some(Call::Poll | Call::Accept) => (true, false),
                    // The first wait that is met may be for anything.
                    None => (false, false),
                    Some(_) => (true, true),
                },
                State::Gone | State::Unknown => (false, false),
            };
            known += if is_known { len } else { 0 };
            busy += if is_busy { len } else { 0 };
        }
    }
    busy as f64 / known.max(1) as f64
}

/// For how long the loop was busy with one thing around a piece: from what it read or wrote
/// before, or from when it had nothing to do, to what it read or wrote after.
pub(crate) fn busy_ns(looked: &Looked<'_>, picked: &Picked<'_>) -> f64 {
    let index: &Index<'_> = &looked.inside.index;
    let (tid, at) = (picked.hops[0].tid, picked.piece.begin);
    let since = index.at_work_since(tid, at);
    let before = index
        .last_mark(tid, at)
        .map_or(since, |mark| mark.at.max(since));
    let behind = index.marks(tid, at.saturating_add(1), u64::MAX).first();
    let behind = behind.map_or(picked.piece.end, |mark| mark.at);
    let behind = behind.max(picked.piece.end);
    // While it could run and others had the CPU it was not busy.
    let kept = index.offs(tid, before, behind).iter().map(|off| {
        let ready = off.ready_from().max(before);
        off.end.min(behind).saturating_sub(ready)
    });
    let kept_ns: u64 = kept.sum();
    behind.saturating_sub(before).saturating_sub(kept_ns) as f64
}

/// What a request takes of its loop while this works for it, or waits in a call for it and can do
/// nothing else.
pub(crate) fn taken_ns(inside: &Inside<'_>, walked: &Walked) -> f64 {
    let tid = walked.joined.reader;
    let own = walked.pieces.iter();
    let own = own.filter(|p| p.behalf == Behalf::Own && p.segment == Phase::Service);
    let mut taken_ns = 0;
    for piece in own {
        let offs = inside.index.offs(tid, piece.begin, piece.end).iter();
        let idle = offs.filter(|off| {
            let call = inside.stacks.call_in(off);
            off.why == Why::Sleeping && matches!(call, Some(Call::Poll | Call::Accept))
        });
        let idle = idle.map(|off| {
            let ready = off.ready_from().min(piece.end);
            ready.saturating_sub(off.begin.max(piece.begin))
        });
        taken_ns += piece.len_ns().saturating_sub(idle.sum());
    }
    taken_ns as f64
}
