//! Who is in an interpreter while others wait to be let in.
//!
//! The thread that lets another in may have come in itself in between, and what it did before kept no thread
//! waiting: it read from a socket, or stood at the door too. So a wait is parted into the turns of
//! those who were in one after the other.

use super::{Wait, Walker, Way};
use crate::trace::index::{State, Why};
use crate::trace::pieces::{Hop, How, LeafKind};

/// Turns within one wait, at most: 200 of 5 ms are a second.
const TURNS_MOST: usize = 200;

/// A thread was in from one instant to another.
type Turn = (u32, u64, u64);

impl Walker<'_> {
    /// Attributes a wait to the turns of others, the last of which `by` had.
    pub(super) fn turns(&mut self, wait: Wait<'_>, (by, about): (u32, u64), way: &mut Way<'_>) {
        let mut turns = Vec::new();
        let (mut tid, mut end) = (by, wait.end);
        for _ in 0..TURNS_MOST {
            let (since, before) = self.came_in(tid, end);
            let begin = since.clamp(wait.begin, end);
            turns.push((tid, begin, end));
            end = begin;
            match before.filter(|&tid| end > wait.begin && tid != wait.tid) {
                Some(before) => tid = before,
                None => break,
            }
        }
        // Who was in before the first of them came in without having waited for any other.
        let mut at = wait.begin;
        let hop = |tid| Hop {
            tid,
            how: How::Interpreter,
            about,
        };
        for (tid, begin, until) in self.ran(&wait, end) {
            self.unknown(&wait, hop(by), (at, begin), way);
            let chain = self.chains.longer(wait.chain, hop(tid));
            self.follow(tid, (begin, until), (wait.depth, chain), way);
            at = until;
        }
        self.unknown(&wait, hop(by), (at, end), way);
        for (tid, begin, end) in turns.into_iter().rev() {
            let chain = self.chains.longer(wait.chain, hop(tid));
            self.follow(tid, (begin, end), (wait.depth, chain), way);
        }
    }

    /// Since when a thread that is in at `at` was, and who let it in, if it had to wait for that.
    fn came_in(&self, tid: u32, at: u64) -> (u64, Option<u32>) {
        let mut offs = self.index.offs(tid, 0, at).iter().rev();
        let Some(off) = offs.find(|off| off.why != Why::Preempted) else {
            return (0, None);
        };
        let let_in = off.woken_by().filter(|_| self.is_let_in(tid, off));
        (off.ready_from(), let_in)
    }

    /// When other threads of the process ran until `end`, in order of time: of several at a time the one
    /// that ran first.
    fn ran(&self, wait: &Wait<'_>, end: u64) -> Vec<Turn> {
        if wait.begin >= end {
            return Vec::new();
        }
        let pid = self.index.pid_of(wait.tid);
        let others = self.index.tids().filter(|&tid| tid != wait.tid);
        let others = others.filter(|&tid| pid != 0 && self.index.pid_of(tid) == pid);
        let mut all: Vec<(u64, u64, u32)> = Vec::new();
        for tid in others {
            let slices = self.index.slices(tid, wait.begin, end);
            let ran = slices.into_iter().filter(|slice| slice.state == State::Run);
            all.extend(ran.map(|slice| (slice.begin, slice.end, tid)));
        }
        all.sort_unstable();
        let mut at = wait.begin;
        let mut turns = Vec::new();
        for (begin, until, tid) in all {
            let begin = begin.max(at);
            if begin < until {
                turns.push((tid, begin, until));
                at = until;
            }
        }
        turns
    }

    /// No thread was seen to be in.
    fn unknown(&mut self, wait: &Wait<'_>, hop: Hop, (begin, end): (u64, u64), way: &mut Way<'_>) {
        let chain = self.chains.longer(wait.chain, hop);
        let rest = Wait {
            begin,
            end,
            chain,
            ..*wait
        };
        Self::leaf(&rest, LeafKind::Lock, self.call(wait.off), way);
    }
}
