//! Which waits are for a lock, who holds it, and what that thread does in that time.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::{Call, Role, Runtime};

use super::handed::{Wake, is_handed_on};
use super::index::{Index, Runner};
use super::inside::Inside;
use super::pieces::{Chains, Hop, How, Leaf, LeafKind, Piece};

/// What is known of the futexes that threads waited at.
#[derive(Debug, Default)]
pub(crate) struct Addresses(BTreeMap<(u32, u64), Votes>);

#[derive(Debug, Default)]
struct Votes {
    lock: bool,
    condition: bool,
    interpreter: bool,
    handed_on: bool,
}

/// The holder of a lock, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Where in the chain the first wait for a lock ends.
    pub(crate) first: usize,
    /// Where in the chain the thread stands that has the lock.
    pub(crate) holder: usize,
    /// Whether it waits for something itself.
    pub(crate) waits: bool,
}

/// What speaks for a lock, rather than for a thread that waits until another has done its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Proof {
    /// The stack of the one who waits, or the owner that is written in the lock.
    Says,
    /// One at a time is let in by the one before: [`super::handed`].
    HandedOn,
    /// The stack says that it is a condition.
    Condition,
    /// It is the lock of an interpreter, which the thread that runs its code holds.
    Interpreter,
    /// Nothing.
    Nothing,
}

impl Addresses {
    /// Of what was waited at in pieces, and of all that was seen at these futexes.
    pub(crate) fn of<'p>(
        pieces: impl Iterator<Item = &'p Piece>,
        chains: &Chains,
        index: &Index<'_>,
    ) -> Self {
        let mut all: BTreeMap<(u32, u64), Votes> = BTreeMap::new();
        let known: BTreeSet<u32> = pieces.map(|piece| piece.chain).collect();
        for chain in known {
            let hops = chains.hops(chain);
            for pair in hops.windows(2).filter(|pair| pair[1].about != 0) {
                let (waiter, hop) = (pair[0].tid, pair[1]);
                let votes = all.entry((index.pid_of(waiter), hop.about)).or_default();
                votes.lock |= hop.how == How::Lock;
                votes.condition |= hop.how == How::Condition;
                votes.interpreter |= hop.how == How::Interpreter;
            }
        }
        let mut wakes: BTreeMap<(u32, u64), Vec<Wake>> = BTreeMap::new();
        for tid in index.tids() {
            let pid = index.pid_of(tid);
            for off in index.offs(tid, 0, u64::MAX) {
                let key = (pid, off.about);
                if let Some(by) = off.woken_by()
                    && off.call == Some(Call::Futex)
                    && all.contains_key(&key)
                {
                    let (since, at) = (off.begin, off.ready_from());
                    wakes
                        .entry(key)
                        .or_default()
                        .push(Wake { at, by, tid, since });
                }
            }
        }
        for (key, mut wakes) in wakes {
            let votes = all.entry(key).or_default();
            votes.handed_on = is_handed_on(&mut wakes);
        }
        Self(all)
    }

    fn get(&self, pid: u32, about: u64) -> Option<&Votes> {
        self.0.get(&(pid, about))
    }
}

/// The holder of the lock that a piece was spent waiting for, if it was one.
pub(crate) fn held(hops: &[Hop], leaf: &Leaf) -> Option<Held> {
    let is_lock = |hop: &Hop| matches!(hop.how, How::Lock | How::Woke | How::Interpreter);
    let first = hops.iter().skip(1).position(is_lock)? + 1;
    let run = hops[first..].iter().take_while(|hop| is_lock(hop)).count();
    let holder = first + run - 1;
    let is_last = holder + 1 == hops.len();
    // Ready after a wait: many short waits for a disk are one long one where CPUs are scarce. Who
    // was given the lock, and is ready to go on, has nothing but work to do.
    let is_ready = matches!(leaf.kind, LeafKind::Ready(_));
    let waited = is_ready && !matches!(leaf.call, None | Some(Call::Futex));
    let at_work = leaf.kind == LeafKind::Cpu || is_ready && !waited;
    // After the holder comes the thread that it waits for. If that one is of another process, it is a call; work
    // of its own process is neither the holder's wait for something outside nor the holder's work.
    let calls = |hop: &Hop| matches!(hop.how, How::Sent | How::Ended);
    let asks = !is_last && (!at_work || hops[holder + 1..].iter().any(calls));
    let waits = asks || leaf.kind.waits_outside() || waited;
    let works = is_last && at_work;
    (waits || works).then_some(Held {
        first,
        holder,
        waits,
    })
}

/// Beginnings of names of threads that stop all others of their process, and keep them waiting for
/// no lock: collectors of garbage of the Java virtual machine (HotSpot names its threads so) and of
/// .NET, and the thread of the former that stops the others.
const COLLECTORS: &[&str] = &[
    "GC Thread",
    "G1 ",
    "VM Thread",
    "ZDriver",
    "ZWorker",
    "Shenandoah",
    "ParGC",
    "ConcGC",
    "CMS ",
    ".NET Server GC",
    ".NET BGC",
];

impl Inside<'_> {
    /// Whether a thread of a chain belongs to what stops all threads of its process.
    pub(crate) fn stops_the_world(&self, hops: &[Hop]) -> bool {
        let collects = |hop: &Hop| {
            let process = self.trace().process_of(hop.tid);
            let managed =
                process.is_some_and(|p| matches!(p.runtime, Runtime::Jvm | Runtime::Managed));
            let name = self.thread_name(hop.tid);
            managed && COLLECTORS.iter().any(|own| name.starts_with(own))
        };
        hops.iter().any(collects)
    }

    /// What speaks for a lock.
    pub(crate) fn proof(&self, hops: &[Hop], held: &Held) -> Proof {
        let hop = hops[held.first];
        match hop.how {
            How::Lock => return Proof::Says,
            How::Interpreter => return Proof::Interpreter,
            _ => {}
        }
        let pid = self.index.pid_of(hops[held.first - 1].tid);
        match self.addresses.get(pid, hop.about) {
            // Ruby's threads sleep at the address at which they wait to be let in.
            Some(votes) if votes.interpreter && !votes.condition => Proof::Interpreter,
            Some(votes) if votes.lock => Proof::Says,
            Some(votes) if votes.condition => Proof::Condition,
            Some(votes) if votes.handed_on => Proof::HandedOn,
            _ => Proof::Nothing,
        }
    }

    /// Whether the first thing that a chain of threads waits for is to be let into an interpreter.
    pub(crate) fn is_let_in_behind(&self, hops: &[Hop]) -> bool {
        let is_lock = |hop: &Hop| matches!(hop.how, How::Lock | How::Woke | How::Interpreter);
        let Some(first) = hops.iter().skip(1).position(is_lock) else {
            return false;
        };
        let held = Held {
            first: first + 1,
            holder: first + 1,
            waits: false,
        };
        self.proof(hops, &held) == Proof::Interpreter
    }

    /// Whether a thread of another process has the CPU that the last thread of a chain is ready to run
    /// on: then it is not the lock that is slow.
    pub(crate) fn is_kept_by_others(&self, leaf: &Leaf) -> bool {
        let LeafKind::Ready(Runner::Thread(tid)) = leaf.kind else {
            return false;
        };
        let process = self.trace().process_of(tid);
        process.is_none_or(|process| process.role != Role::Target)
    }
}
