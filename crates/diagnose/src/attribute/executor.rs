//! Threads that requests are handed to: when such a thread began with the request, and whether it
//! was at work for another one before.
//!
//! A thread of the pool of an event loop (or of threads that wait for a future) never touches
//! a client's connection. It says that a job is over by waking a thread that does. Its time is cut
//! there: what it did before its last job began was for other requests, for which this one waited.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_attribution::Place;
use slowpath_core::trace::{Call, NO_STACK};

use super::classify::without_digits;
use crate::diagnosis::Phase;
use crate::trace::calls::{Asked, Calls};
use crate::trace::index::{Off, Why};
use crate::trace::inside::{Inside, Walked};
use crate::trace::pieces::{Hop, How, Piece};

/// A thread that has ended a job looks for the next one at once, and is blocked within this time if there is none.
const IDLE_AFTER_NS: u64 = 500_000;
/// A thread of a pool waits at its queue, which is a futex, when it has ended a job; a selector or an event loop does not.
const AT_QUEUE_LEAST: f64 = 0.8;
/// An event loop waits for files, but for what blocks it now and then. A thread of a pool that takes turns as a selector rests at the
/// pool's queue as well.
const AT_FILES_LEAST: f64 = 0.9;

/// Fewer waits just after a job do not show where a thread rests.
const RESTS_LEAST: usize = 5;

/// The jobs of the threads that requests are handed to.
#[derive(Debug, Default)]
pub(super) struct Executors {
    /// By thread: when it woke a thread that serves clients, ascending.
    ends: BTreeMap<u32, Vec<u64>>,
    /// By thread: when a thread that serves clients woke it, ascending.
    begins: BTreeMap<u32, Vec<u64>>,
    /// By thread that serves no client: the addresses that it waited at when one that does woke it.
    woken_at: BTreeMap<u32, BTreeSet<u64>>,
    /// By thread: where it waits for its next job, by the stack.
    rests: BTreeMap<u32, u32>,
    /// Threads that ask other servers, and wait at a queue when they wait for no reply.
    at_queue: BTreeSet<u32>,
    /// Event loops that answer what other threads have read: of a client library, on which what follows a reply is run.
    loops: BTreeSet<u32>,
}

/// Where in the chain of a piece a thread stands that is busy with what others have asked for.
pub(super) struct Begun {
    pub(super) hop: usize,
    /// When it begins with this request.
    pub(super) at: u64,
    /// What it is to those that wait.
    pub(super) place: Place,
}

impl Executors {
    /// Finds them: threads of the target that wake those that read and answer requests, and do
    /// neither themselves.
    pub(super) fn of(inside: &Inside<'_>, calls: &Calls, serving: &BTreeSet<u32>) -> Self {
        let mut executors = Self {
            at_queue: calls
                .asking()
                .filter(|&tid| rests_at_queue(inside, calls, tid))
                .collect(),
            loops: loops(inside),
            ..Self::default()
        };
        let index = &inside.index;
        for tid in index.tids().filter(|&tid| inside.is_targets(tid)) {
            let serves = serving.contains(&tid);
            for off in index.offs(tid, 0, u64::MAX) {
                let Some(by) = off.woken_by().filter(|&by| by != tid) else {
                    continue;
                };
                if serves && !serving.contains(&by) && inside.is_targets(by) {
                    executors.ends.entry(by).or_default().push(off.ready_from());
                } else if !serves && serving.contains(&by) {
                    executors
                        .begins
                        .entry(tid)
                        .or_default()
                        .push(off.ready_from());
                    executors.woken_at.entry(tid).or_default().insert(off.about);
                }
            }
        }
        for all in executors
            .ends
            .values_mut()
            .chain(executors.begins.values_mut())
        {
            all.sort_unstable();
        }
        executors
            .ends
            .retain(|&tid, ends| !waits_elsewhere(inside, tid, ends));
        let rests = executors.ends.iter();
        executors.rests = rests
            .filter_map(|(&tid, ends)| Some((tid, rest(inside, tid, ends)?)))
            .collect();
        executors
    }

    /// How many threads of each process and name do such jobs.
    pub(super) fn threads(&self, inside: &Inside<'_>) -> BTreeMap<(String, String), u32> {
        let mut threads = BTreeMap::new();
        for &tid in self.ends.keys() {
            let process = inside.process_name(tid).to_owned();
            let name = without_digits(&inside.thread_name(tid));
            *threads.entry((process, name)).or_default() += 1;
        }
        threads
    }

    /// Where in the chain of a piece a thread stands that the request was handed to, and when it began with it, if that was after the
    /// piece's beginning.
    pub(super) fn handed_to(
        &self,
        (inside, calls): (&Inside<'_>, &Calls),
        walked: &Walked,
        piece: &Piece,
        hops: &[Hop],
    ) -> Option<Begun> {
        if piece.segment != Phase::Service {
            return None;
        }
        let (came, until) = walked.joined.part(Phase::Service);
        let in_turn = |hop: &Hop| {
            let is_other = hop.tid != walked.joined.reader && self.loops.contains(&hop.tid);
            is_other
                .then(|| blocked_for_others(inside, hop.tid, came, piece.begin))
                .flatten()
        };
        let mut turn = hops.iter().enumerate();
        if let Some((hop, at)) = turn.find_map(|(place, hop)| Some((place, in_turn(hop)?))) {
            let place = Place::EventLoop;
            return Some(Begun { hop, at, place });
        }
        let pool = |hop: &Hop| {
            let name = without_digits(&inside.thread_name(hop.tid));
            (inside.process_name(hop.tid), name)
        };
        // Until when it waits for what it had asked before the request came.
        let busy_until = |hop: &Hop| {
            let is_handed = hop.tid != walked.joined.reader && self.at_queue.contains(&hop.tid);
            let asked = calls.in_call(hop.tid, came).filter(|_| is_handed)?;
            is_blocked_in(inside, asked, came).then_some(asked.end)
        };
        let began = |(place, hop): (usize, &Hop)| {
            let Some(before) = place.checked_sub(1).map(|before| &hops[before]) else {
                return busy_until(hop);
            };
            // A thread that waits for another one of its pool has the request, and waits for what that one holds; a loop hands it on.
            if !inside.loops.has(before.tid) && pool(before) == pool(hop) {
                return None;
            }
            let hands = matches!(
                hop.how,
                How::Serves | How::Asked | How::Condition | How::Woke | How::Sent
            );
            if !hands || self.is_idle(inside, hop.tid, piece.begin) {
                return None;
            }
            self.job_begin(hop.tid, until).max(busy_until(hop))
        };
        let mut began = hops.iter().enumerate().map(|at| (at.0, began(at)));
        let later = |(hop, at): (usize, Option<u64>)| {
            let at = at.filter(|at| *at > piece.begin)?;
            let place = Place::Executor;
            Some(Begun { hop, at, place })
        };
        began.find_map(later)
    }

    /// When a thread began with the job that it ended last before `until`; `None` if it is no such
    /// thread, or ended none.
    fn job_begin(&self, tid: u32, until: u64) -> Option<u64> {
        let ends = self.ends.get(&tid)?;
        let last = ends.partition_point(|&at| at <= until).checked_sub(1)?;
        let end = ends[last];
        let before = last.checked_sub(1).map(|place| ends[place]);
        let begins = self.begins.get(&tid).map_or(&[][..], Vec::as_slice);
        let woken = begins.partition_point(|&at| at <= end).checked_sub(1);
        before.max(woken.map(|place| begins[place]))
    }

    /// Whether a thread keeps another one waiting at a futex with work that no request has asked for: no thread that serves clients
    /// ever woke it at another address, and it has been at work since the wait began. One that wakes up by itself to look for
    /// requests sleeps while they wait.
    pub(super) fn keeps(&self, inside: &Inside<'_>, tid: u32, waiter: u32, at: u64) -> bool {
        let offs = inside.index.offs(waiter, at, at.saturating_add(1));
        let at_futex = |off: &&Off| off.call == Some(Call::Futex) && off.about != 0;
        let Some(waited) = offs.first().filter(at_futex) else {
            return false;
        };
        let by_request = self
            .woken_at
            .get(&tid)
            .is_some_and(|at| at.iter().any(|&at| at != waited.about));
        let rests = |off: &Off| match inside.stacks.call_in(off) {
            Some(Call::Sleep) => true,
            Some(Call::Futex | Call::Poll) => off.woken_by().is_none(),
            _ => false,
        };
        let during = inside.index.offs(tid, waited.begin, waited.ready_from());
        !by_request && !during.iter().any(rests)
    }

    /// Whether a thread has no job at an instant: it is blocked since just after it ended one, or where it then waits. A thread may
    /// do a part of a job (it reads a reply that is not whole) without ending any.
    fn is_idle(&self, inside: &Inside<'_>, tid: u32, at: u64) -> bool {
        let offs = inside.index.offs(tid, at, at.saturating_add(1));
        let Some(off) = offs.first().filter(|off| off.why == Why::Sleeping) else {
            return false;
        };
        let ends = self.ends.get(&tid).map_or(&[][..], Vec::as_slice);
        is_after_job(off, ends) || self.rests.get(&tid) == Some(&off.stack)
    }
}

/// The threads of the target that answer requests which others read, and rest where they wait for many files.
fn loops(inside: &Inside<'_>) -> BTreeSet<u32> {
    let serving = inside.serving();
    let own = serving.writers.difference(&serving.readers).copied();
    // A thread of a runtime that parks rests at a futex as well as at its files.
    own.filter(|&tid| !inside.index.parks(tid) && rests_at_files(inside, tid))
        .collect()
}

/// Whether nearly all waits of a thread are for one of many files.
fn rests_at_files(inside: &Inside<'_>, tid: u32) -> bool {
    let offs = inside.index.offs(tid, 0, u64::MAX).iter();
    let (mut at_files, mut all) = (0_usize, 0_usize);
    for off in offs.filter(|off| off.why == Why::Sleeping) {
        all += 1;
        at_files += usize::from(inside.stacks.call_in(off) == Some(Call::Poll));
    }
    all >= RESTS_LEAST && at_files as f64 >= AT_FILES_LEAST * all as f64
}

/// Until when a loop is blocked for others at an instant: it waits for anything but files, and has not been back at these since a
/// request came.
fn blocked_for_others(inside: &Inside<'_>, tid: u32, came: u64, at: u64) -> Option<u64> {
    let offs = inside.index.offs(tid, came, at.saturating_add(1));
    let is_back = |off: &Off| inside.stacks.call_in(off) == Some(Call::Poll);
    let is_blocked = |off: &&Off| {
        // What it is blocked in since later may be the request's own.
        off.why == Why::Sleeping
            && off.begin < came
            && off.end > at
            && !inside.stacks.facts(off.stack).idle
    };
    let last = offs.last().filter(is_blocked)?;
    (!offs.iter().any(is_back)).then_some(last.end)
}

/// Whether a thread waits at a queue, which is a futex, when it waits for no reply: one that asks for many, or that waits for what comes
/// next at another server, rests at a connection, and a loop at its selector.
fn rests_at_queue(inside: &Inside<'_>, calls: &Calls, tid: u32) -> bool {
    let (mut at_queue, mut all) = (0_usize, 0_usize);
    for off in inside.index.offs(tid, 0, u64::MAX) {
        if off.why == Why::Sleeping && calls.in_call(tid, off.begin).is_none() {
            all += 1;
            at_queue += usize::from(inside.stacks.call_in(off) == Some(Call::Futex));
        }
    }
    all >= RESTS_LEAST && at_queue as f64 >= AT_QUEUE_LEAST * all as f64
}

/// Whether the thread that asked waits for the reply at an instant, and does nothing else: what it asked before a request came was
/// not asked for that one.
fn is_blocked_in(inside: &Inside<'_>, asked: &Asked, at: u64) -> bool {
    let waits = |off: &Off| {
        let call = inside.stacks.call_in(off);
        matches!(call, Some(Call::Read | Call::Poll)) && !inside.stacks.facts(off.stack).events
    };
    let is_within = |off: &Off| off.begin >= asked.begin && off.end <= asked.end;
    let offs = inside.index.offs(asked.tid, at, at.saturating_add(1));
    let mut since = inside.index.marks(asked.tid, at, asked.end).iter();
    offs.first()
        .is_some_and(|off| off.begin < at && waits(off) && is_within(off))
        && !since.any(|mark| mark.wrote)
}

/// Whether a thread is blocked since just after it ended a job.
fn is_after_job(off: &Off, ends: &[u64]) -> bool {
    let last = ends.partition_point(|&end| end <= off.begin).checked_sub(1);
    off.why == Why::Sleeping && last.is_some_and(|place| off.begin - ends[place] <= IDLE_AFTER_NS)
}

/// The stack with which a thread waits just after most of its jobs.
fn rest(inside: &Inside<'_>, tid: u32, ends: &[u64]) -> Option<u32> {
    let offs = inside.index.offs(tid, 0, u64::MAX).iter();
    let mut stacks: BTreeMap<u32, usize> = BTreeMap::new();
    for off in offs.filter(|off| off.stack != NO_STACK && is_after_job(off, ends)) {
        *stacks.entry(off.stack).or_default() += 1;
    }
    let all: usize = stacks.values().sum();
    let (stack, n) = stacks.into_iter().max_by_key(|(_, n)| *n)?;
    (2 * n > all && n >= RESTS_LEAST).then_some(stack)
}

/// Whether a thread waits for its next job otherwise than at a queue: one that waits for many files serves what comes
/// by turns, and has no jobs.
fn waits_elsewhere(inside: &Inside<'_>, tid: u32, ends: &[u64]) -> bool {
    let (mut at_queue, mut all) = (0_usize, 0_usize);
    for off in inside.index.offs(tid, 0, u64::MAX) {
        if is_after_job(off, ends) {
            all += 1;
            at_queue += usize::from(inside.stacks.call_in(off) == Some(Call::Futex));
        }
    }
    (at_queue as f64) < AT_QUEUE_LEAST * all as f64
}
