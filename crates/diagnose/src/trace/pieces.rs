//! What a request's time was spent on: pieces that follow each other without a hole, each with the
//! threads that were waited for and what the last of them did.

use std::collections::BTreeMap;

use slowpath_attribution::Reason;
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, IDLE, NO_STACK};

use super::index::Runner;
use crate::diagnosis::Phase;

/// A part of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When.
    pub begin: u64,
    /// Until when.
    pub end: u64,
    /// In which part of the request.
    pub segment: Phase,
    /// For which request the first thread of the chain was at work.
    pub behalf: Behalf,
    /// Which thread waited for which; [`Chains::NONE`] for what is no thread's doing.
    pub chain: u32,
    /// What the last thread of the chain did.
    pub leaf: Leaf,
}

/// For which request a thread is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behalf {
    /// For the request.
    Own,
    /// For a request of another connection.
    Other,
    /// For no request that is known, and it was busy when this one came.
    Background,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Leaf {
    /// What.
    pub kind: LeafKind,
    /// The thread; 0 for none.
    pub tid: u32,
    /// The call it was in, if that is known; of one that is ready to run, what it had waited in,
    /// and `None` if it had been at work.
    pub call: Option<Call>,
    /// Where it stood, or [`NO_STACK`].
    pub stack: u32,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeafKind {
    /// Nothing of a thread: the client, the network, the way back.
    Outside,
    /// It ran.
    Cpu,
    /// It could run, and that had the CPU.
    Ready(Runner),
    /// It waited for a time.
    Sleep,
    /// It waited for a lock or a condition; its holder is not known.
    Lock,
    /// It waited for a disk.
    Disk,
    /// It waited for the network: a host that cannot be seen.
    Network,
    /// It waited for data from a socket, a pipe or a file.
    Data,
    /// It waited for a process on this host that is not followed.
    Peer,
    /// It waited for a child process.
    Child,
    /// It had nothing to do, and its runtime keeps what waits in user space.
    RuntimeIdle,
    /// The same, until a timer of its runtime woke it, and it went on with the request without reading
    /// anything else.
    RuntimeTimer,
    /// Not known.
    Unknown(Blank),
}

/// Why it is not known what a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blank {
    /// Nothing was recorded of it then.
    NotSeen,
    /// Who woke it, or what it waited for, is not in the record.
    NoWaker,
    /// It had ended.
    Gone,
    /// It had not begun: it is the one that takes the connection up.
    NotBegun,
    /// More threads wait for each other than are followed.
    TooDeep,
    /// An event loop waits, and it is not known for what.
    Loop,
    /// A call does not return until the kernel has done work of its own: a grace period of RCU, its worker threads.
    Kernel,
}

impl Blank {
    /// Why what a request waits for is not known.
    pub(crate) const fn reason(self) -> Reason {
        match self {
            Self::NoWaker => Reason::NoWaker,
            Self::NotBegun => Reason::NotTaken,
            Self::Loop => Reason::LoopWaits,
            Self::Kernel => Reason::Kernel,
            Self::NotSeen | Self::Gone | Self::TooDeep => Reason::NotSeen,
        }
    }
}

impl LeafKind {
    /// Whether a thread that does this waits for something outside of its process: a time, a disk,
    /// another host or process.
    pub const fn waits_outside(self) -> bool {
        matches!(
            self,
            Self::Sleep | Self::Disk | Self::Network | Self::Data | Self::Peer | Self::Child
        )
    }

    /// Why nothing explains it, if nothing does.
    pub const fn unexplained(self) -> Option<&'static str> {
        Some(match self {
            Self::RuntimeIdle => {
                "the runtime is idle while the request waits in user space: unseen by the kernel"
            }
            Self::RuntimeTimer => {
                "the runtime is idle until one of its timers fires: a sleep, or a lock whose holder sleeps"
            }
            Self::Lock => "waiting for a lock or a condition whose owner is not known",
            Self::Unknown(Blank::NotSeen) => "what the thread did was not recorded",
            Self::Unknown(Blank::NoWaker) => "who ended the wait was not recorded",
            Self::Unknown(Blank::Gone) => "the thread had ended",
            Self::Unknown(Blank::NotBegun) => "no thread had taken the connection up",
            Self::Unknown(Blank::TooDeep) => "more threads wait for each other than are followed",
            Self::Unknown(Blank::Loop) => "an event loop waits, and for what is not known",
            Self::Unknown(Blank::Kernel) => {
                "a call waits until the kernel has done work of its own"
            }
            _ => return None,
        })
    }
}

impl Leaf {
    /// What is no thread's doing.
    pub const OUTSIDE: Self = Self {
        kind: LeafKind::Outside,
        tid: IDLE,
        call: None,
        stack: NO_STACK,
    };
}

impl Piece {
    /// When.
    pub fn span(&self) -> Span {
        let at = |ns: u64| Nanos::new(ns.max(1));
        Span::new(at(self.begin), at(self.end))
    }

    /// How long.
    pub const fn len_ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// How a thread came to be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// It serves the request.
    Serves,
    /// It had a lock that the one before waited for: the stack, or the lock's owner, says so.
    Lock,
    /// The one before waited until it would say that something has come about.
    Condition,
    /// It ran the code of an interpreter that lets one thread in at a time: the stack says so.
    Interpreter,
    /// The one before had woken it, and waited until it was woken by it.
    Asked,
    /// It woke the one before: a lock or a condition.
    Woke,
    /// The one before waited for data that it sent.
    Sent,
    /// The one before waited for it to end.
    Ended,
}

/// A step from a thread to the one that it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hop {
    /// The thread that is waited for.
    pub tid: u32,
    /// How.
    pub how: How,
    /// The address of the futex that was waited at; 0 if it is not known, or is none.
    pub about: u64,
}

/// Chains of threads, each kept once: a chain is its last step and the chain before.
#[derive(Debug, Default)]
pub struct Chains {
    steps: Vec<(u32, Hop)>,
    known: BTreeMap<(u32, Hop), u32>,
}

impl Chains {
    /// The chain without a thread.
    pub const NONE: u32 = u32::MAX;

    /// The chain with one more thread.
    pub fn longer(&mut self, chain: u32, hop: Hop) -> u32 {
        let next = self.steps.len() as u32;
        let known = *self.known.entry((chain, hop)).or_insert(next);
        if known == next {
            self.steps.push((chain, hop));
        }
        known
    }

    /// The threads of a chain, the one that has the request first.
    pub fn hops(&self, chain: u32) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut at = chain;
        while let Some(&(before, hop)) = self.steps.get(at as usize) {
            hops.push(hop);
            at = before;
        }
        hops.reverse();
        hops
    }
}
