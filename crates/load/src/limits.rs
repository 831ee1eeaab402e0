//! Until when each slot may work on its request.

use std::cell::Cell;

use slowpath_core::Nanos;
use slowpath_core::sample::{Outcome, Phase};

use crate::failure::Failure;

/// A request that ended before its response was whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// How.
    pub(crate) failure: Failure,
    /// When.
    pub(crate) at: Nanos,
}

/// The limits of all slots. One look at all of them now and then replaces a timer a request; the
/// instant recorded for a limit is the limit itself, whenever it is noticed.
#[derive(Debug)]
pub(crate) struct Limits {
    slots: Vec<Cell<Option<Nanos>>>,
    cutoff: Cell<Option<Nanos>>,
    /// The instant of the last look.
    clock: Cell<Nanos>,
}

impl Limits {
    /// No slot has a limit.
    pub(crate) fn new(slots: u32, now: Nanos) -> Self {
        Self {
            slots: (0..slots).map(|_| Cell::new(None)).collect(),
            cutoff: Cell::new(None),
            clock: Cell::new(now),
        }
    }

    /// Sets the limit of a slot, or takes it away.
    pub(crate) fn set(&self, slot: u32, limit: Option<Nanos>) {
        self.slots[slot as usize].set(limit);
    }

    /// Gives up everything at `at`, as unfinished.
    pub(crate) fn cut_off(&self, at: Nanos) {
        self.cutoff.set(Some(at));
    }

    /// Looks at the clock and names the slots that are over their limits.
    pub(crate) fn look(&self, now: Nanos) -> impl Iterator<Item = u32> + '_ {
        self.clock.set(now);
        let slots = (0_u32..).zip(&self.slots);
        slots.filter_map(move |(slot, limit)| {
            let limit = self.earliest(limit.get()?).0;
            (limit <= now).then_some(slot)
        })
    }

    /// Whether a slot that got nothing must give up, as far as the last look knows.
    pub(crate) fn expired(&self, slot: u32, phase: Phase) -> Option<Broken> {
        self.expired_at(slot, phase, self.clock.get())
    }

    /// Whether what a slot got at `now` came too late.
    pub(crate) fn expired_at(&self, slot: u32, phase: Phase, now: Nanos) -> Option<Broken> {
        let (at, outcome) = self.earliest(self.slots[slot as usize].get()?);
        let failure = Failure::new(outcome, phase);
        (at <= now).then_some(Broken { failure, at })
    }

    fn earliest(&self, limit: Nanos) -> (Nanos, Outcome) {
        match self.cutoff.get() {
            Some(cutoff) if cutoff < limit => (cutoff, Outcome::Unfinished),
            _ => (limit, Outcome::Timeout),
        }
    }
}
