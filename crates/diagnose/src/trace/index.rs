//! What each thread did when, from the events of a trace; linear in their number.

mod cpus;
mod fill;
mod sockets;
mod tids;

use std::collections::BTreeSet;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, Context, Depth, IDLE, Trace};

use cpus::Cpus;
pub use cpus::Runner;
pub use sockets::{Sockets, Traffic, TrafficKind};
use tids::Tids;

/// Means an instant that is not known in [`Off::wake`].
const UNKNOWN: u64 = 0;

/// A trace, cut by thread, CPU and socket.
#[derive(Debug)]
pub struct Index<'a> {
    /// What it was made of.
    pub trace: &'a Trace,
    /// Stretches of time without a hole in the recording, in order.
    pub blocks: Vec<Block>,
    tids: Tids,
    lives: Vec<Life>,
    cpus: Cpus,
    /// The traffic of each connection's ends.
    pub sockets: Sockets,
    /// Threads that run tasks of many requests by turns, in a runtime that is not known for it.
    pub(crate) task_threads: BTreeSet<u32>,
}

/// A stretch of time that was recorded without a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// When.
    pub span: Span,
    /// Whether it is known which thread woke which.
    pub has_wakers: bool,
    /// Records that were lost in it.
    pub lost: u64,
}

/// What is known of one thread.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// When it was off the CPUs, or what it did is not known; ascending, disjoint. In between it
    /// ran.
    pub(crate) offs: Vec<Off>,
    /// Until then.
    pub(crate) known_until: u64,
    /// What it was found waiting for, in order of time.
    pub(crate) peeks: Vec<Peek>,
    /// What it read from and wrote to, in order of time.
    pub(crate) marks: Vec<Mark>,
    /// Where it was found running, in order of time: when, and the stack.
    pub(crate) samples: Vec<(u64, u32)>,
    /// When it asked that data be written to the disk (`fsync` and its kin), in order of time: it may be there at once.
    pub(crate) syncs: Vec<u64>,
}

/// Why a thread was off the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another thread got the CPU.
    Preempted,
    /// It waited, and a signal would have ended that.
    Sleeping,
    /// It waited, and nothing but what it waited for could end that.
    Uninterruptible,
    /// It had ended, or was stopped.
    Gone,
    /// What it did is not known.
    Unknown,
}

/// A time in which a thread did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Off {
    /// When it left its CPU.
    pub begin: u64,
    /// When it was made ready to run; 0 if that is not known. A preempted one was ready at once.
    pub wake: u64,
    /// When it ran again.
    pub end: u64,
    /// What [`Off::call`] was about; 0 if that is not known.
    pub about: u64,
    /// Who was running on the CPU that woke it.
    pub waker: u32,
    /// Where it stood, or `NO_STACK`.
    pub stack: u32,
    /// The CPU it got then.
    pub cpu: u16,
    /// The CPU that it was woken from, where [`Off::context`] is known.
    pub from: u16,
    /// Why.
    pub why: Why,
    /// The system call it was in, if that is known.
    pub call: Option<Call>,
    /// On whose behalf it was woken, if that is known.
    pub context: Option<Context>,
}

/// A thread, found in a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peek {
    /// When.
    pub at: u64,
    /// What the call is about.
    pub about: u64,
    /// Who owns the lock that it waits for; 0 if that is not known.
    pub owner: u32,
    /// The call.
    pub call: Call,
}

/// A thread read from a socket or wrote to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When.
    pub at: u64,
    /// The socket, as [`Sockets`] count.
    pub socket: u32,
    /// Whether it wrote.
    pub wrote: bool,
}

/// What a thread did for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice<'a> {
    /// When.
    pub begin: u64,
    /// Until when.
    pub end: u64,
    /// What.
    pub state: State<'a>,
}

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State<'a> {
    /// It ran.
    Run,
    /// It could run and had no CPU.
    Ready(&'a Off),
    /// It waited for something.
    Blocked(&'a Off),
    /// It had ended, or was stopped.
    Gone,
    /// Not known.
    Unknown,
}

impl Off {
    /// The thread that ended the wait; `None` if an interrupt did, or if that is not known.
    pub(crate) fn woken_by(&self) -> Option<u32> {
        let by_thread = self.context == Some(Context::Thread) && self.waker != IDLE;
        by_thread.then_some(self.waker)
    }

    /// When another thread woke it, if that is known.
    pub fn woken_at(&self) -> Option<u64> {
        (self.wake != UNKNOWN).then_some(self.wake)
    }

    /// When the wait was over: from then on it was ready to run.
    pub fn ready_from(&self) -> u64 {
        match self.why {
            Why::Preempted => self.begin,
            _ if self.wake == UNKNOWN => self.end,
            _ => self.wake.clamp(self.begin, self.end),
        }
    }
}

impl<'a> Index<'a> {
    /// Cuts a trace.
    pub fn new(trace: &'a Trace) -> Self {
        fill::fill(trace, blocks(trace))
    }

    /// Whether what a thread serves waits in user space, unseen by the kernel: its runtime, or a pool of threads that take tasks by
    /// turns, parks it.
    pub(crate) fn parks(&self, tid: u32) -> bool {
        self.trace.parks(tid) || self.task_threads.contains(&tid)
    }

    /// What a thread did from `begin` to `end`, without holes; nothing is known of a thread that
    /// was not met.
    pub fn slices(&self, tid: u32, begin: u64, end: u64) -> Vec<Slice<'_>> {
        let mut out = Vec::new();
        let mut push = |begin: u64, end: u64, state| {
            if begin < end {
                out.push(Slice { begin, end, state });
            }
        };
        let Some(life) = self.life(tid) else {
            push(begin, end, State::Unknown);
            return out;
        };
        let mut at = begin;
        let first = life.offs.partition_point(|off| off.end <= begin);
        for off in life.offs[first..].iter().take_while(|off| off.begin < end) {
            push(at, off.begin.min(end), State::Run);
            let (from, to) = (off.begin.max(begin), off.end.min(end));
            let ready = off.ready_from().clamp(from, to);
            match off.why {
                Why::Unknown if off.context.is_none() => push(from, to, State::Unknown),
                Why::Gone => push(from, to, State::Gone),
                _ => {
                    push(from, ready, State::Blocked(off));
                    push(ready, to, State::Ready(off));
                }
            }
            at = to;
        }
        let known = life.known_until.clamp(at.min(end), end);
        push(at, known, State::Run);
        push(known.max(at), end, State::Unknown);
        out
    }

    /// The times off the CPUs of a thread that end after `begin` and begin before `end`.
    pub fn offs(&self, tid: u32, begin: u64, end: u64) -> &[Off] {
        let offs = self.life(tid).map_or(&[][..], |life| &life.offs);
        let first = offs.partition_point(|off| off.end <= begin);
        let last = offs.partition_point(|off| off.begin < end);
        &offs[first.min(last)..last]
    }

    /// Since when a thread has been at work that runs, or is kept from running, at `at`: the end of
    /// its last wait before.
    pub fn at_work_since(&self, tid: u32, at: u64) -> u64 {
        let offs = self.life(tid).map_or(&[][..], |life| &life.offs);
        let before = offs.partition_point(|off| off.end <= at);
        let wait = offs[..before].iter().rev();
        let mut wait = wait.skip_while(|off| off.why == Why::Preempted);
        wait.next().map_or(0, |off| off.end)
    }

    /// The first time off the CPUs of a thread that begins at `at` or later.
    pub fn next_off(&self, tid: u32, at: u64) -> Option<&Off> {
        let offs = &self.life(tid)?.offs;
        offs.get(offs.partition_point(|off| off.begin < at))
    }

    /// What a thread was found waiting for from `begin` to `end`.
    pub fn peeks(&self, tid: u32, begin: u64, end: u64) -> &[Peek] {
        let peeks = self.life(tid).map_or(&[][..], |life| &life.peeks);
        within(peeks, |peek| peek.at, begin, end)
    }

    /// What a thread read and wrote from `begin` to `end`.
    pub fn marks(&self, tid: u32, begin: u64, end: u64) -> &[Mark] {
        let marks = self.life(tid).map_or(&[][..], |life| &life.marks);
        within(marks, |mark| mark.at, begin, end)
    }

    /// Whether a thread asked from `begin` to `end` that data be written to the disk.
    pub(crate) fn syncs(&self, tid: u32, begin: u64, end: u64) -> bool {
        let syncs = self.life(tid).map_or(&[][..], |life| &life.syncs);
        !within(syncs, |&at| at, begin, end).is_empty()
    }

    /// The last thing that a thread read or wrote, at `at` or before.
    pub fn last_mark(&self, tid: u32, at: u64) -> Option<Mark> {
        let marks = &self.life(tid)?.marks;
        let behind = marks.partition_point(|mark| mark.at <= at);
        marks.get(behind.checked_sub(1)?).copied()
    }

    /// Whether a thread was not met before an instant.
    pub(crate) fn is_new(&self, tid: u32, at: u64) -> bool {
        let mut before = self.offs(tid, 0, at).iter();
        before.all(|off| off.why == Why::Unknown) && self.last_mark(tid, at).is_none()
    }

    /// Where a thread was found running from `begin` to `end`.
    pub fn samples(&self, tid: u32, begin: u64, end: u64) -> &[(u64, u32)] {
        let samples = self.life(tid).map_or(&[][..], |life| &life.samples);
        within(samples, |sample| sample.0, begin, end)
    }

    /// Who had a CPU from `begin` to `end`, without holes.
    pub fn runners(&self, cpu: u16, begin: u64, end: u64) -> Vec<(u64, u64, Runner)> {
        self.cpus.runners(cpu, begin, end)
    }

    /// The block that an instant lies in.
    pub fn block_at(&self, at: Nanos) -> Option<&Block> {
        let behind = self.blocks.partition_point(|b| b.span.begin <= at);
        let block = self.blocks.get(behind.checked_sub(1)?)?;
        (at < block.span.end).then_some(block)
    }

    /// The process of a thread; 0 if that is not known.
    pub(crate) fn pid_of(&self, tid: u32) -> u32 {
        self.trace.thread(tid).map_or(0, |thread| thread.pid)
    }

    /// The threads that were met.
    pub fn tids(&self) -> impl Iterator<Item = u32> + '_ {
        self.tids.all()
    }

    fn life(&self, tid: u32) -> Option<&Life> {
        self.lives.get(self.tids.get(tid)?)
    }
}

/// The part of a sorted list that lies from `begin` to `end`.
fn within<T>(all: &[T], at: impl Fn(&T) -> u64, begin: u64, end: u64) -> &[T] {
    let first = all.partition_point(|item| at(item) < begin);
    let last = all.partition_point(|item| at(item) < end);
    &all[first.min(last)..last]
}

/// Recorded stretches that follow each other without a hole, made one.
fn blocks(trace: &Trace) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for stretch in trace.stretches.iter().filter(|s| s.depth != Depth::Off) {
        let has_wakers = stretch.depth.has_wakers();
        match blocks.last_mut() {
            Some(last) if last.span.end >= stretch.span.begin && last.has_wakers == has_wakers => {
                last.span.end = last.span.end.max(stretch.span.end);
                last.lost += stretch.lost;
            }
            _ => blocks.push(Block {
                span: stretch.span,
                has_wakers,
                lost: stretch.lost,
            }),
        }
    }
    blocks
}
