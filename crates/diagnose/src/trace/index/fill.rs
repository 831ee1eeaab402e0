//! One pass over the events.

use std::collections::BTreeSet;

use slowpath_core::trace::{Call, Context, Event, IDLE, Left, NO_STACK, Trace, What};

use super::cpus::Cpus;
use super::sockets::{Sockets, Traffic, TrafficKind};
use super::tids::Tids;
use super::{Block, Index, Life, Mark, Off, Peek, UNKNOWN, Why};

/// A thread that is woken before it has left its CPU is reported to be woken first and to leave then:
/// what lies further apart than a switch takes was another wake-up, long over.
const RACE_NS: u64 = 50_000;
/// A thread that blocks again so soon, without having entered another call, is still in the one it
/// was in: calls look again whether there is something for them when they are woken.
const SAME_CALL_NS: u64 = 20_000;

/// Where a thread is while the events pass.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// The block it was last seen in.
    block: usize,
    at: At,
    /// The call that it entered last.
    call: Option<(Call, u64)>,
    /// Whether that was since it was last blocked.
    fresh: bool,
    /// Who woke it while it was still running.
    early: Option<Waking>,
}

/// A thread was made ready to run.
#[derive(Clone, Copy, Debug)]
struct Waking {
    at: u64,
    by: u32,
    context: Context,
    cpu: u16,
}

#[derive(Clone, Copy, Debug)]
enum At {
    /// Not seen in this block.
    Unseen,
    /// Runs since then.
    Run(u64),
    /// Off the CPUs.
    Off(Off),
}

/// Which of a moment's events comes first: clocks of two CPUs may agree to the nanosecond.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Leave,
    Wake,
    Get,
}

struct Fill {
    blocks: Vec<Block>,
    /// The block that the events are in.
    block: usize,
    tids: Tids,
    lives: Vec<Life>,
    cursors: Vec<Cursor>,
    /// Threads that were seen in the block.
    seen: Vec<usize>,
    cpus: Cpus,
    sockets: Sockets,
}

/// Cuts a trace whose recorded time is `blocks`.
pub(super) fn fill(trace: &Trace, blocks: Vec<Block>) -> Index<'_> {
    let mut fill = Fill {
        blocks,
        block: 0,
        tids: Tids::default(),
        lives: Vec::new(),
        cursors: Vec::new(),
        seen: Vec::new(),
        cpus: Cpus::default(),
        sockets: Sockets::new(&trace.sockets),
    };
    if trace.events.is_sorted_by_key(|event| event.at) {
        fill.all(&trace.events);
    } else {
        let mut events = trace.events.clone();
        events.sort_by_key(|event| event.at);
        fill.all(&events);
    }
    Index {
        trace,
        blocks: fill.blocks,
        tids: fill.tids,
        lives: fill.lives,
        cpus: fill.cpus,
        sockets: fill.sockets,
        task_threads: BTreeSet::new(),
    }
}

impl Fill {
    fn all(&mut self, events: &[Event]) {
        for moment in events.chunk_by(|a, b| a.at == b.at) {
            let at = moment[0].at;
            while let Some(block) = self.blocks.get(self.block)
                && at >= block.span.end
            {
                self.end_block();
            }
            let Some(block) = self.blocks.get(self.block) else {
                return;
            };
            if at < block.span.begin {
                continue;
            }
            if moment.iter().all(|event| event.cpu == moment[0].cpu) {
                // What one CPU reports is in order.
                moment.chunks(1).for_each(|one| self.take_all(one));
            } else {
                self.take_all(moment);
            }
        }
        while self.block < self.blocks.len() {
            self.end_block();
        }
    }

    /// Nothing is known of the threads from the end of the block on.
    fn end_block(&mut self) {
        let end = self.blocks[self.block].span.end.get();
        for number in std::mem::take(&mut self.seen) {
            let life = &mut self.lives[number];
            if let At::Off(off) = self.cursors[number].at {
                push(life, Off { end, ..off });
            }
            life.known_until = end;
        }
        self.block += 1;
    }

    fn take_all(&mut self, moment: &[Event]) {
        for turn in [Turn::Leave, Turn::Wake, Turn::Get] {
            for event in moment {
                self.take(event, turn);
            }
        }
    }

    fn take(&mut self, event: &Event, turn: Turn) {
        let at = event.at.get();
        match (event.what, turn) {
            (
                What::Switch {
                    from, left, stack, ..
                },
                Turn::Leave,
            ) => {
                let why = match left {
                    Left::Runnable => Why::Preempted,
                    Left::Sleeping => Why::Sleeping,
                    Left::Uninterruptible => Why::Uninterruptible,
                    Left::Gone => Why::Gone,
                };
                self.leaves(from, at, why, stack);
            }
            (What::Switch { from, to, .. }, Turn::Get) => {
                self.cpus.handed(event.cpu, at, from, to);
                self.gets(to, at, event.cpu);
            }
            (What::Off { tid, preempted }, Turn::Leave) => {
                let why = if preempted {
                    Why::Preempted
                } else {
                    Why::Sleeping
                };
                self.leaves(tid, at, why, NO_STACK);
            }
            (What::On { tid }, Turn::Get) => self.gets(tid, at, event.cpu),
            (What::Waking { tid, by, context }, Turn::Wake) => {
                let cpu = event.cpu;
                self.wakes(
                    tid,
                    Waking {
                        at,
                        by,
                        context,
                        cpu,
                    },
                );
            }
            (_, Turn::Leave) => self.happens(event.what, at),
            _ => {}
        }
    }

    /// What says something of a thread that runs, or of none.
    fn happens(&mut self, what: What, at: u64) {
        let kind = match what {
            What::Call { tid, call, about } => {
                if let Some(number) = self.runs(tid, at) {
                    let cursor = &mut self.cursors[number];
                    (cursor.call, cursor.fresh) = (Some((call, about)), true);
                    if call == Call::Sync {
                        self.lives[number].syncs.push(at);
                    }
                }
                return;
            }
            What::Sample { tid, stack } => {
                if let Some(number) = self.runs(tid, at) {
                    self.lives[number].samples.push((at, stack));
                }
                return;
            }
            What::Peek {
                tid,
                call,
                about,
                owner,
            } => {
                let peek = Peek {
                    at,
                    about,
                    owner,
                    call,
                };
                return self.found(tid, peek);
            }
            What::Arrived { socket, .. } => (socket, IDLE, TrafficKind::Arrived, 0),
            What::Read { socket, tid } => (socket, tid, TrafficKind::Read, 0),
            What::Wrote { socket, tid, bytes } => (socket, tid, TrafficKind::Wrote, bytes),
            _ => return,
        };
        let (position, tid, kind, bytes) = kind;
        let traffic = Traffic {
            at,
            tid,
            kind,
            bytes,
        };
        let Some(socket) = self.sockets.note(position, traffic) else {
            return;
        };
        if let Some(number) = self.runs(tid, at) {
            let wrote = kind == TrafficKind::Wrote;
            let mark = Mark { at, socket, wrote };
            self.lives[number].marks.push(mark);
            // Reading and writing are calls of their own: the one before is over.
            self.cursors[number].call = None;
        }
    }

    /// The number of a thread, which is then seen in this block.
    fn number(&mut self, tid: u32) -> Option<usize> {
        if tid == IDLE {
            return None;
        }
        let number = self.tids.number(tid);
        if self.lives.len() <= number {
            self.lives.resize_with(number + 1, Life::default);
            let cursor = Cursor {
                block: usize::MAX,
                at: At::Unseen,
                call: None,
                fresh: false,
                early: None,
            };
            self.cursors.resize(number + 1, cursor);
        }
        let cursor = &mut self.cursors[number];
        if cursor.block != self.block {
            cursor.block = self.block;
            (cursor.at, cursor.call, cursor.early) = (At::Unseen, None, None);
            self.seen.push(number);
        }
        Some(number)
    }

    fn begin(&self) -> u64 {
        self.blocks[self.block].span.begin.get()
    }

    /// What a thread did is known from `at` on.
    fn known_from(&mut self, number: usize, at: u64) {
        let life = &mut self.lives[number];
        push(life, unknown(life.known_until, at));
        life.known_until = life.known_until.max(at);
    }

    fn leaves(&mut self, tid: u32, at: u64, why: Why, stack: u32) {
        let Some(number) = self.number(tid) else {
            return;
        };
        self.settle_running(number, at);
        let cursor = &mut self.cursors[number];
        cursor.early = cursor
            .early
            .filter(|early| at - early.at <= RACE_NS && why != Why::Preempted);
        let still = match cursor.at {
            At::Run(since) => at - since <= SAME_CALL_NS,
            _ => false,
        };
        let (call, about) = match cursor.call {
            Some((call, about)) if why != Why::Preempted && (cursor.fresh || still) => {
                (Some(call), about)
            }
            _ => (None, 0),
        };
        cursor.at = At::Off(Off {
            begin: at,
            wake: UNKNOWN,
            end: at,
            about,
            waker: IDLE,
            stack,
            cpu: 0,
            from: 0,
            why,
            call,
            context: None,
        });
    }

    /// A thread runs until `at`: since when, if that was not seen, and what was lost.
    fn settle_running(&mut self, number: usize, at: u64) {
        let begin = self.begin();
        match self.cursors[number].at {
            At::Unseen => {
                self.known_from(number, begin);
                self.cursors[number].at = At::Run(begin);
            }
            At::Run(_) => {}
            At::Off(off) => {
                // That it got a CPU again was lost, and with it who knows what.
                push(&mut self.lives[number], unknown(off.begin, at));
                self.cursors[number].at = At::Run(at);
                self.cursors[number].call = None;
            }
        }
    }

    fn runs(&mut self, tid: u32, at: u64) -> Option<usize> {
        let number = self.number(tid)?;
        self.settle_running(number, at);
        Some(number)
    }

    fn wakes(&mut self, tid: u32, waking: Waking) {
        let begin = self.begin();
        let Some(number) = self.number(tid) else {
            return;
        };
        if waking.context == Context::Birth {
            // An id may be given again: what the one before did is over.
            self.gets(tid, waking.at, waking.cpu);
            let mut off = unknown(waking.at, waking.at);
            let context = Context::Thread;
            off.woken(waking.at, Waking { context, ..waking });
            self.cursors[number].at = At::Off(off);
            return;
        }
        if matches!(self.cursors[number].at, At::Unseen) {
            self.known_from(number, begin);
            self.cursors[number].at = At::Off(blocked_since(begin));
        }
        let cursor = &mut self.cursors[number];
        match &mut cursor.at {
            At::Off(off) if off.wake == UNKNOWN && off.why != Why::Preempted => {
                off.woken(waking.at, waking);
            }
            At::Run(_) => cursor.early = Some(waking),
            _ => {}
        }
    }

    fn gets(&mut self, tid: u32, at: u64, cpu: u16) {
        let Some(number) = self.number(tid) else {
            return;
        };
        match self.cursors[number].at {
            At::Unseen => self.known_from(number, at),
            // That it left was lost.
            At::Run(since) => push(&mut self.lives[number], unknown(since, at)),
            At::Off(mut off) => {
                if off.wake == UNKNOWN
                    && let Some(early) = self.cursors[number].early
                {
                    off.woken(off.begin, early);
                }
                push(
                    &mut self.lives[number],
                    Off {
                        end: at,
                        cpu,
                        ..off
                    },
                );
                self.cursors[number].fresh &= off.why == Why::Preempted;
            }
        }
        let cursor = &mut self.cursors[number];
        (cursor.at, cursor.early) = (At::Run(at), None);
    }

    /// A thread was found waiting.
    fn found(&mut self, tid: u32, peek: Peek) {
        let begin = self.begin();
        let Some(number) = self.number(tid) else {
            return;
        };
        if matches!(self.cursors[number].at, At::Unseen) {
            self.known_from(number, begin);
            self.cursors[number].at = At::Off(blocked_since(begin));
        }
        self.lives[number].peeks.push(peek);
    }
}

impl Off {
    /// Its wait was over then.
    fn woken(&mut self, at: u64, waking: Waking) {
        (self.wake, self.waker, self.from) = (at, waking.by, waking.cpu);
        self.context = Some(waking.context);
    }
}

/// Who was blocked when a block began.
fn blocked_since(begin: u64) -> Off {
    Off {
        why: Why::Sleeping,
        ..unknown(begin, begin)
    }
}

fn unknown(begin: u64, end: u64) -> Off {
    Off {
        begin,
        wake: UNKNOWN,
        end,
        about: 0,
        waker: IDLE,
        stack: NO_STACK,
        cpu: 0,
        from: 0,
        why: Why::Unknown,
        call: None,
        context: None,
    }
}

fn push(life: &mut Life, off: Off) {
    if off.begin < off.end {
        life.offs.push(off);
    }
}
