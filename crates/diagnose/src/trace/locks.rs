//! Which waits are for a lock, who has it, and what that thread does meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::{Call, Runtime, Trace};

use super::inside::Inside;
use super::pieces::{Chains, Hop, How, Leaf, LeafKind, Piece};

/// What is known of the futexes that threads waited at.
#[derive(Debug, Default)]
pub(crate) struct Addresses(BTreeMap<(u32, u64), Votes>);

#[derive(Debug, Default)]
struct Votes {
    lock: bool,
    condition: bool,
    waiters: BTreeSet<u32>,
}

/// Who has a lock, and what it does.
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
    /// It is handed on from one server thread to the next, and on to this one.
    HandedOn,
    /// Several threads wait at one address.
    Shared,
    /// The stack says that it is a condition.
    Condition,
    /// Nothing.
    Nothing,
}

impl Addresses {
    /// Of what was waited at in pieces.
    pub(crate) fn of<'p>(
        pieces: impl Iterator<Item = &'p Piece>,
        chains: &Chains,
        trace: &Trace,
    ) -> Self {
        let mut all: BTreeMap<(u32, u64), Votes> = BTreeMap::new();
        let known: BTreeSet<u32> = pieces.map(|piece| piece.chain).collect();
        for chain in known {
            let hops = chains.hops(chain);
            for pair in hops.windows(2).filter(|pair| pair[1].about != 0) {
                let (waiter, hop) = (pair[0].tid, pair[1]);
                let pid = trace.thread(waiter).map_or(0, |thread| thread.pid);
                let votes = all.entry((pid, hop.about)).or_default();
                votes.waiters.insert(waiter);
                votes.lock |= hop.how == How::Lock;
                votes.condition |= hop.how == How::Condition;
            }
        }
        Self(all)
    }

    fn get(&self, pid: u32, about: u64) -> Option<&Votes> {
        self.0.get(&(pid, about))
    }
}

/// Who has the lock that a piece was spent waiting for, if it was one.
pub(crate) fn held(hops: &[Hop], leaf: &Leaf) -> Option<Held> {
    let is_lock = |hop: &Hop| matches!(hop.how, How::Lock | How::Woke);
    let first = hops.iter().skip(1).position(is_lock)? + 1;
    let run = hops[first..].iter().take_while(|hop| is_lock(hop)).count();
    let holder = first + run - 1;
    let is_last = holder + 1 == hops.len();
    // Ready behind a wait: many short waits for a disk are one long one where CPUs are scarce. Who
    // was given the lock, and is ready to go on, has nothing but work to do.
    let is_ready = matches!(leaf.kind, LeafKind::Ready(_));
    let waited = is_ready && !matches!(leaf.call, None | Some(Call::Futex));
    // Behind the holder stands whom it waits for.
    let waits = !is_last || leaf.kind.waits_outside() || waited;
    let works = is_last && (leaf.kind == LeafKind::Cpu || is_ready && !waited);
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
        if hop.how == How::Lock {
            return Proof::Says;
        }
        let waiter = hops[held.first - 1].tid;
        let pid = self.trace().thread(waiter).map_or(0, |thread| thread.pid);
        let votes = self.addresses.get(pid, hop.about);
        match votes {
            Some(votes) if votes.lock => return Proof::Says,
            Some(votes) if votes.condition => return Proof::Condition,
            _ => {}
        }
        let between = &hops[held.first..held.holder];
        if between.iter().any(|hop| self.servers.contains(&hop.tid)) {
            return Proof::HandedOn;
        }
        match votes {
            Some(votes) if votes.waiters.len() > 1 => Proof::Shared,
            _ => Proof::Nothing,
        }
    }
}
