//! The one lock of a simulated server: waiters get it in order.

use std::collections::VecDeque;

/// Who may have the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Request(usize),
    Holder(usize),
}

#[derive(Debug, Default)]
pub(super) struct Lock {
    taken: bool,
    /// Who waits, since when, and for how long it is wanted.
    waiting: VecDeque<(Owner, u64, u64)>,
}

impl Lock {
    /// Whether it is free, and taken now.
    pub(super) fn wants(&mut self, now: u64, owner: Owner, ns: u64) -> bool {
        if self.taken {
            self.waiting.push_back((owner, now, ns));
            return false;
        }
        self.taken = true;
        true
    }

    /// Its next holder.
    pub(super) fn let_go(&mut self) -> Option<(Owner, u64, u64)> {
        let next = self.waiting.pop_front();
        self.taken = next.is_some();
        next
    }
}
