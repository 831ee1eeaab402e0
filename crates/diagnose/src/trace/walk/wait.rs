//! Why a thread was blocked: who ended that, and what kind of wait it was.

use slowpath_core::trace::{Call, Context, IDLE, Role, Runtime};

use super::{DEEPEST, Wait, Walker, Way};
use crate::diagnosis::Phase;
use crate::trace::index::{Off, Traffic, TrafficKind, Why};
use crate::trace::pieces::{Blank, Hop, How, Leaf, LeafKind};
use crate::trace::remote::{awaited, read_until};
use crate::trace::stacks::Waits;
use crate::trace::task_pool::waits_for_task;

/// A wait with a time limit that is taken up again so soon is one wait: CPython waits for its lock
/// in steps of 5 ms.
const AGAIN_NS: u64 = 200_000;
/// Times that a wait is taken up again, at most.
const AGAIN_MOST: usize = 200;

/// What ended a wait.
enum Ender {
    /// A thread.
    Thread(u32),
    /// The network, a timer or a disk.
    Interrupt(Context),
    /// Not known.
    Unknown,
}

impl Walker<'_> {
    /// Attributes a part of a wait.
    pub(super) fn explain(&mut self, wait: Wait<'_>, way: &mut Way<'_>) {
        let call = self.call(wait.off);
        if self.is_runtime_idle(wait.tid, wait.off) {
            let kind = if self.is_ended_by_own_timer(&wait, way) {
                LeafKind::RuntimeTimer
            } else {
                LeafKind::RuntimeIdle
            };
            return Self::leaf(&wait, kind, call, way);
        }
        let Some(block) = self.block_of(wait.begin) else {
            return Self::leaf(&wait, LeafKind::Unknown(Blank::NotSeen), call, way);
        };
        if !block {
            return self.explain_by_peeks(wait, way);
        }
        let last = self.taken_up_again(&wait, call);
        match ender(self, &last) {
            Ender::Unknown => {
                let facts = self.facts(wait.off.stack);
                let kind = if facts.kernel_work {
                    LeafKind::Unknown(Blank::Kernel)
                } else {
                    without_ender(call, wait.off, facts.disk)
                };
                Self::leaf(&wait, kind, call, way);
            }
            Ender::Interrupt(context) => self.interrupted(wait, context, call, way),
            Ender::Thread(by) => self.woken(wait, &last, by, call, way),
        }
    }

    /// Whether it is known which thread woke which at an instant.
    fn block_of(&self, at: u64) -> Option<bool> {
        let at = slowpath_core::Nanos::new(at.max(1));
        self.index.block_at(at).map(|block| block.has_wakers)
    }

    /// The last of waits that are one, which has the ender of the last one.
    fn taken_up_again(&self, wait: &Wait<'_>, call: Option<Call>) -> Off {
        let mut last = *wait.off;
        if call != Some(Call::Futex) {
            return last;
        }
        for _ in 0..AGAIN_MOST {
            let timed_out = matches!(last.context, Some(Context::Softirq | Context::Hardirq));
            let next = self.index.next_off(wait.tid, last.end);
            let Some(next) = next.filter(|_| timed_out) else {
                break;
            };
            // A condition of the C library is waited for at two addresses by turns.
            let lets_in = |off: &Off| self.is_let_in(wait.tid, off);
            let same = if last.about == 0 {
                next.stack == last.stack
            } else {
                next.about == last.about || (lets_in(&last) && lets_in(next))
            };
            let soon = next.begin.saturating_sub(last.end) <= AGAIN_NS;
            // A thread that let another go on in between has done with what it waited for: it sleeps again.
            let anew = self.woke_somebody(wait.tid, last.end, next.begin);
            if !soon || !same || anew || self.call(next) != Some(Call::Futex) {
                break;
            }
            last = *next;
        }
        last
    }

    fn woke_somebody(&self, tid: u32, begin: u64, end: u64) -> bool {
        let wakes = self.wakes.get(&tid).map_or(&[][..], Vec::as_slice);
        let next = wakes.partition_point(|&at| at < begin);
        wakes.get(next).is_some_and(|&at| at <= end)
    }

    /// Whether the thread's runtime has nothing for it to do: what its requests wait for is in
    /// user space.
    pub(super) fn is_runtime_idle(&self, tid: u32, off: &Off) -> bool {
        if self.index.task_threads.contains(&tid) {
            return waits_for_task(&self.stacks, off);
        }
        let facts = self.facts(off.stack);
        if facts.idle || facts.named {
            return facts.idle;
        }
        self.index.parks(tid)
            && off.why == Why::Sleeping
            && matches!(
                self.call(off),
                None | Some(Call::Futex | Call::Poll | Call::Sleep)
            )
    }

    /// Whether a timer ended the idleness of the thread that answers, and it answered then without
    /// reading from any other connection. Runtimes let the thread that waits for the network wait no
    /// longer than until their next timer is due (Go's `findRunnable`, tokio's time driver), and it
    /// then runs what that timer makes ready. Timers of the kernel fire in the hard interrupt.
    fn is_ended_by_own_timer(&self, wait: &Wait<'_>, way: &Way<'_>) -> bool {
        let by_timer = matches!(ender(self, wait.off), Ender::Interrupt(Context::Hardirq));
        let sleeps = self.call(wait.off) == Some(Call::Sleep);
        if !by_timer || sleeps || wait.depth != 1 || way.segment != Phase::Service {
            return false;
        }
        let marks = self.index.marks(wait.tid, wait.off.end, way.end);
        let elsewhere = |socket| self.port_of(socket) != way.port;
        !marks
            .iter()
            .any(|mark| !mark.wrote && elsewhere(mark.socket))
    }

    /// A timer, the network or a disk ended it.
    fn interrupted(
        &mut self,
        wait: Wait<'_>,
        context: Context,
        call: Option<Call>,
        way: &mut Way<'_>,
    ) {
        let disk = wait.off.why == Why::Uninterruptible || self.facts(wait.off.stack).disk;
        let kind = match call {
            _ if self.facts(wait.off.stack).kernel_work => LeafKind::Unknown(Blank::Kernel),
            // A futex that no thread woke has reached its time limit: so sleep Java and others.
            Some(Call::Sleep | Call::Futex) => LeafKind::Sleep,
            Some(Call::Sync) => LeafKind::Disk,
            _ if disk => LeafKind::Disk,
            Some(Call::FileLock) => LeafKind::Lock,
            Some(Call::Wait) => LeafKind::Child,
            // Timers of the kernel fire in the hard interrupt, the network does its work in the
            // soft one.
            Some(Call::Poll) | None if context == Context::Hardirq => LeafKind::Sleep,
            // Without a stack: what it does next shows what it waited for. A loop that serves
            // clients reads from one of them, and that says nothing.
            None | Some(Call::Other) if self.reads_elsewhere(&wait, way.port) => {
                return self.networked(wait, call, way);
            }
            None | Some(Call::Other) => LeafKind::Unknown(Blank::NoWaker),
            Some(Call::Poll | Call::Read | Call::Write | Call::Connect | Call::Accept) => {
                return self.networked(wait, call, way);
            }
        };
        Self::leaf(&wait, kind, call, way);
    }

    /// Data ended it: from which thread, if that is a thread on this host.
    fn networked(&mut self, wait: Wait<'_>, call: Option<Call>, way: &mut Way<'_>) {
        let Some(sender) = self.sender(&wait, way) else {
            return Self::leaf(&wait, LeafKind::Network, call, way);
        };
        match sender {
            // A thread that waits for its next request has nothing to do with what others wait for.
            Sender::Client if wait.depth > 1 && self.is_between_requests(&wait, way.port) => {
                Self::leaf(&wait, LeafKind::Unknown(Blank::NoWaker), call, way);
            }
            Sender::Client => Self::leaf(&wait, loop_or_client(call), call, way),
            Sender::Thread { tid, at, asked } => {
                // Before it was asked for, the reply was not what was waited for.
                let asked = asked.clamp(wait.begin, wait.end);
                let before = Wait { end: asked, ..wait };
                Self::leaf(&before, LeafKind::Unknown(Blank::Loop), call, way);
                let wait = Wait {
                    begin: asked,
                    ..wait
                };
                let sent = at.clamp(wait.begin, wait.end);
                let hop = Hop {
                    tid,
                    how: How::Sent,
                    about: 0,
                };
                let chain = self.chains.longer(wait.chain, hop);
                self.follow(tid, (wait.begin, sent), (wait.depth, chain), way);
                let rest = Wait {
                    begin: sent,
                    ..wait
                };
                Self::leaf(&rest, LeafKind::Network, call, way);
            }
        }
    }

    /// Whether the last that a thread did for its clients before a wait was to answer one.
    fn is_between_requests(&self, wait: &Wait<'_>, port: Option<u16>) -> bool {
        let last = self.index.last_mark(wait.tid, wait.off.begin);
        last.is_none_or(|mark| mark.wrote && self.port_of(mark.socket) == port)
    }

    /// Whether a thread went on with data of a connection that is no client's.
    fn reads_elsewhere(&self, wait: &Wait<'_>, port: Option<u16>) -> bool {
        let socket = awaited(self.index, wait.tid, wait.off);
        socket.is_some_and(|socket| self.port_of(socket) != port)
    }

    /// The end that a loop read from to go on with a request: what it reads before the answer. It
    /// wakes for several connections at once, and what it reads first may be for another request.
    fn read_for(&self, wait: &Wait<'_>, way: &Way<'_>) -> Option<u32> {
        if way.segment != Phase::Service || !wait.for_work || !self.loops.has(wait.tid) {
            return None;
        }
        let until = read_until(self.index, wait.tid, wait.off).min(way.end);
        let marks = self
            .index
            .marks(wait.tid, wait.off.end, until.saturating_add(1));
        let is_other = |socket| self.port_of(socket) != way.port;
        let mut reads = marks
            .iter()
            .rev()
            .filter(|mark| !mark.wrote && is_other(mark.socket));
        reads.next().map(|mark| mark.socket)
    }

    /// Who sent what ended a wait for data: the first that the thread reads after it, or of a loop
    /// what it reads for the request.
    fn sender(&self, wait: &Wait<'_>, way: &Way<'_>) -> Option<Sender> {
        let index = self.index;
        let woken = wait.off.ready_from();
        let until = read_until(index, wait.tid, wait.off);
        let own = self.read_for(wait, way);
        let socket = own.or_else(|| awaited(index, wait.tid, wait.off))?;
        if self.port_of(socket) == way.port {
            return Some(Sender::Client);
        }
        let other = index.sockets.other(socket)?;
        // On one host data arrives, and wakes who reads it, before the call that sent it is over
        // and is reported: of what was written just before and just after, it is the nearer.
        let wrote = |t: &&Traffic| t.kind == TrafficKind::Wrote;
        let before = index.sockets.between(other, 0, woken.saturating_add(1));
        let after = index.sockets.between(other, woken.saturating_add(1), until);
        let nearest = [before.iter().rev().find(wrote), after.iter().find(wrote)];
        let nearest = nearest.into_iter().flatten();
        let last = nearest.min_by_key(|t| t.at.abs_diff(woken))?;
        match self.role(last.tid) {
            Some(Role::Tool) => Some(Sender::Client),
            Some(Role::Target | Role::Peer) => Some(Sender::Thread {
                tid: last.tid,
                at: last.at.min(woken),
                asked: self.asked_at(wait, socket, last.at.min(woken)),
            }),
            _ => None,
        }
    }

    /// When a loop asked for what came on an end of a connection: it last wrote there before. A thread that
    /// serves one connection at a time waits for nothing else.
    fn asked_at(&self, wait: &Wait<'_>, socket: u32, replied: u64) -> u64 {
        if !self.loops.has(wait.tid) {
            return 0;
        }
        let own = self.index.sockets.between(socket, 0, replied);
        let asked = own.iter().rev().find(|t| t.kind == TrafficKind::Wrote);
        asked.map_or(0, |t| t.at)
    }

    /// Another thread ended it.
    fn woken(
        &mut self,
        wait: Wait<'_>,
        last: &Off,
        by: u32,
        call: Option<Call>,
        way: &mut Way<'_>,
    ) {
        let process = |tid| {
            self.index
                .trace
                .thread(tid)
                .map(|t| t.pid)
                .filter(|&p| p != 0)
        };
        let (own, other) = (process(wait.tid), process(by));
        let followed = matches!(self.role(by), Some(Role::Target | Role::Peer));
        let together = own.is_some() && own == other;
        let says = self.facts(wait.off.stack).waits;
        let how = match call {
            // A signal.
            Some(Call::Sleep) => return Self::leaf(&wait, LeafKind::Sleep, call, way),
            Some(Call::Sync) => return Self::leaf(&wait, LeafKind::Disk, call, way),
            _ if !together && !followed && self.facts(wait.off.stack).kernel_work => {
                return Self::leaf(&wait, LeafKind::Unknown(Blank::Kernel), call, way);
            }
            _ if !together && !followed => {
                let kind = by_a_stranger(call, wait.off, self.role(by));
                return Self::leaf(&wait, kind, call, way);
            }
            Some(Call::Wait) => How::Ended,
            Some(Call::FileLock) => How::Lock,
            Some(Call::Poll | Call::Accept) if together && wait.for_work => How::Serves,
            Some(Call::Read | Call::Write | Call::Poll | Call::Connect | Call::Accept) => How::Sent,
            _ if self.is_let_in(wait.tid, last) => How::Interpreter,
            // A lock that it takes on its way to the request is none of the request's work.
            _ if (by == way.reader || wait.for_work) && says != Some(Waits::Lock) => How::Serves,
            _ => self.how_woken(&wait, last, by),
        };
        let about = if call == Some(Call::Futex) {
            last.about
        } else {
            0
        };
        if matches!(how, How::Lock | How::Woke) && about != 0 {
            return self.had_it((by, how, about), wait, way);
        }
        if how == How::Interpreter {
            return self.turns(wait, (by, about), way);
        }
        let hop = Hop {
            tid: by,
            how,
            about,
        };
        let chain = self.chains.longer(wait.chain, hop);
        self.follow(by, (wait.begin, wait.end), (wait.depth, chain), way);
    }

    /// Who let the waiting thread in last had the lock only since it was let in itself: before, the thread that
    /// let that one in had it, as far back as the wait goes.
    fn had_it(&mut self, (by, how, about): (u32, How, u64), wait: Wait<'_>, way: &mut Way<'_>) {
        let mut turns = vec![(by, wait.end)];
        let mut begin = wait.begin;
        while turns.len() < DEEPEST {
            let (holder, until) = turns[turns.len() - 1];
            let since = self
                .idle_until(holder, (wait.begin, until), way)
                .filter(|_| how == How::Lock);
            let let_in = match since {
                None => self.let_in(holder, about, wait.begin, until),
                Some(since) => self
                    .let_in(holder, about, since, until)
                    .or_else(|| self.let_in_to_any(holder, since, until)),
            };
            match (let_in, since) {
                (Some(before), _) => turns.push(before),
                (None, Some(since)) => {
                    let before = Wait { end: since, ..wait };
                    Self::leaf(&before, LeafKind::Lock, Some(Call::Futex), way);
                    begin = since;
                    break;
                }
                (None, None) => break,
            }
        }
        for (tid, until) in turns.into_iter().rev() {
            let chain = self.chains.longer(wait.chain, Hop { tid, how, about });
            self.follow(tid, (begin, until), (wait.depth, chain), way);
            begin = until;
        }
    }

    /// Until when a thread was between two requests at last, if it was within a time: it had no lock then.
    fn idle_until(&self, tid: u32, (begin, end): (u64, u64), way: &Way<'_>) -> Option<u64> {
        let is_clients = |socket| self.port_of(socket) == way.port;
        let takes_up = |off: &&Off| {
            let last = self.index.last_mark(tid, off.begin);
            let next = self.index.marks(tid, off.end, end).first();
            off.end < end
                && off.why == Why::Sleeping
                && self.facts(off.stack).waits != Some(Waits::Lock)
                && last.is_none_or(|mark| mark.wrote && is_clients(mark.socket))
                && next.is_some_and(|mark| !mark.wrote && is_clients(mark.socket))
        };
        let offs = self.index.offs(tid, begin, end);
        Some(offs.iter().rev().find(takes_up)?.end)
    }

    /// Who let a thread of Java in that waited for a lock within a time: each waits for all locks at an address of its own.
    fn let_in_to_any(&self, tid: u32, begin: u64, end: u64) -> Option<(u32, u64)> {
        let process = self.index.trace.process_of(tid)?;
        if process.runtime != Runtime::Jvm {
            return None;
        }
        let is_lock =
            |off: &&Off| off.begin >= begin && self.facts(off.stack).waits == Some(Waits::Lock);
        let offs = self.index.offs(tid, begin, end).iter().rev();
        offs.filter(is_lock).find_map(|off| {
            let by = off.woken_by().filter(|&by| by != tid)?;
            let same = self.index.pid_of(by) == self.index.pid_of(tid);
            (same && off.ready_from() < end).then_some((by, off.ready_from()))
        })
    }

    /// Who let a thread in that waited at the same futex itself within a time, and until when the other
    /// one had it: from when it was woken, the thread had it.
    fn let_in(&self, tid: u32, about: u64, begin: u64, end: u64) -> Option<(u32, u64)> {
        let offs = self.index.offs(tid, begin, end);
        let own = |off: &&Off| off.about == about && self.call(off) == Some(Call::Futex);
        let off = offs
            .iter()
            .rev()
            .filter(own)
            .find(|off| off.begin > begin)?;
        let by = off.woken_by()?;
        let same = self.index.pid_of(by) == self.index.pid_of(tid) && by != tid;
        (same && off.ready_from() < end).then_some((by, off.ready_from()))
    }

    /// Whether a thread waits until it is let into an interpreter: its stack says so, or that of
    /// another wait at the same address.
    pub(super) fn is_let_in(&self, tid: u32, off: &Off) -> bool {
        match self.facts(off.stack).waits {
            Some(waits) => waits == Waits::Interpreter,
            None => self
                .interpreters
                .contains(&(self.index.pid_of(tid), off.about)),
        }
    }

    /// Whether it was a lock that was waited for, or that another thread would do its part.
    fn how_woken(&self, wait: &Wait<'_>, last: &Off, by: u32) -> How {
        match self.facts(wait.off.stack).waits {
            Some(Waits::Lock) => return How::Lock,
            Some(Waits::Condition) => return How::Condition,
            Some(Waits::Interpreter) | None => {}
        }
        let since = self.index.at_work_since(wait.tid, wait.off.begin);
        let woke_it = |off: &Off| {
            off.waker == wait.tid
                && off.context == Some(Context::Thread)
                && off.wake >= since
                // A thread that releases a lock wakes its waiters …
                && (off.about == 0 || off.about != last.about)
                // … and a waiter releases the interpreter.
                && !self.interpreters.contains(&(self.index.pid_of(by), off.about))
        };
        let mut offs = self.index.offs(by, since, wait.end).iter();
        if offs.any(woke_it) {
            How::Asked
        } else {
            How::Woke
        }
    }

    pub(super) fn leaf(wait: &Wait<'_>, kind: LeafKind, call: Option<Call>, way: &mut Way<'_>) {
        let leaf = Leaf {
            kind,
            tid: wait.tid,
            call,
            stack: wait.off.stack,
        };
        way.push(wait.begin, wait.end, wait.chain, leaf);
    }

    /// Where it is not known which thread woke which: what the thread was found waiting for, each finding
    /// until the next.
    fn explain_by_peeks(&mut self, wait: Wait<'_>, way: &mut Way<'_>) {
        let peeks = self.index.peeks(wait.tid, wait.begin, wait.end).to_vec();
        if peeks.is_empty() {
            let kind = LeafKind::Unknown(Blank::NotSeen);
            return Self::leaf(&wait, kind, wait.off.call, way);
        }
        let mut begin = wait.begin;
        for (place, peek) in peeks.iter().enumerate() {
            let end = peeks.get(place + 1).map_or(wait.end, |next| next.at);
            let part = Wait { begin, end, ..wait };
            begin = end;
            let call = Some(peek.call);
            if peek.call == Call::Futex && peek.owner != 0 && peek.owner != wait.tid {
                let hop = Hop {
                    tid: peek.owner,
                    how: How::Lock,
                    about: peek.about,
                };
                let chain = self.chains.longer(wait.chain, hop);
                self.follow(peek.owner, (part.begin, part.end), (wait.depth, chain), way);
            } else {
                Self::leaf(&part, without_ender(call, wait.off, false), call, way);
            }
        }
    }
}

/// Who sent data.
enum Sender {
    /// The load generator.
    Client,
    /// A thread, then.
    Thread {
        tid: u32,
        at: u64,
        /// When it was asked, by a loop that waits for several; otherwise 0.
        asked: u64,
    },
}

/// What ended a wait; soft interrupts are also done by threads of the kernel made for it.
fn ender(walker: &Walker<'_>, off: &Off) -> Ender {
    match off.context {
        None => Ender::Unknown,
        Some(Context::Thread) if off.waker == IDLE => Ender::Unknown,
        Some(Context::Thread) => {
            let thread = walker.index.trace.thread(off.waker);
            if thread.is_some_and(|t| t.name.starts_with("ksoftirqd/")) {
                Ender::Interrupt(Context::Softirq)
            } else {
                Ender::Thread(off.waker)
            }
        }
        Some(context) => Ender::Interrupt(context),
    }
}

/// What a wait is that no thread is known to have ended.
fn without_ender(call: Option<Call>, off: &Off, disk: bool) -> LeafKind {
    match call {
        Some(Call::Sleep) => LeafKind::Sleep,
        Some(Call::Futex | Call::FileLock) => LeafKind::Lock,
        Some(Call::Sync) => LeafKind::Disk,
        _ if disk || off.why == Why::Uninterruptible => LeafKind::Disk,
        Some(Call::Connect) => LeafKind::Network,
        Some(Call::Poll | Call::Read | Call::Write | Call::Accept) => LeafKind::Data,
        Some(Call::Wait) => LeafKind::Child,
        None | Some(Call::Other) => LeafKind::Unknown(Blank::NoWaker),
    }
}

/// What a wait is that a thread ended which is not followed.
fn by_a_stranger(call: Option<Call>, off: &Off, role: Option<Role>) -> LeafKind {
    match call {
        // The load generator sent the next request, or read what was sent.
        _ if role == Some(Role::Tool) => loop_or_client(call),
        // Threads of the kernel write to disks and answer for them.
        _ if off.why == Why::Uninterruptible => LeafKind::Disk,
        Some(Call::Wait) => LeafKind::Child,
        Some(Call::Futex | Call::FileLock) => LeafKind::Lock,
        Some(Call::Read | Call::Write | Call::Poll | Call::Connect | Call::Accept) => {
            LeafKind::Peer
        }
        _ => LeafKind::Unknown(Blank::NoWaker),
    }
}

/// What a wait is that the load generator ended: a loop that waits for whatever comes was given
/// another request, and that says nothing of what this one waits for.
const fn loop_or_client(call: Option<Call>) -> LeafKind {
    match call {
        Some(Call::Poll | Call::Accept) => LeafKind::Unknown(Blank::Loop),
        _ => LeafKind::Network,
    }
}
