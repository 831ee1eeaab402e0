//! The slots that are free, and which of them takes the next request.

use std::collections::VecDeque;

use slowpath_core::scenario::{ConnectionUse, Load, PoolOpen, PoolReuse};

use super::grouping::Grouping;

/// The free slots of a loop. Those with a connection go first; where none is left a slot without
/// one goes, and dials.
#[derive(Debug)]
pub(super) struct Free {
    reuse: PoolReuse,
    /// Whether a slot whose connection was lost keeps its place, and dials when its turn comes.
    keeps_turn: bool,
    grouping: Grouping,
    /// Slots with a connection, the one that was used last at the end.
    open: VecDeque<u32>,
    /// Slots without one; the last of them goes first.
    vacant: Vec<u32>,
}

impl Free {
    /// Of so many slots. None of them has a connection yet; those whose connections are opened at
    /// the start are not free before that.
    pub(super) fn new(load: &Load, grouping: Grouping, slots: u32) -> Self {
        let pooled = load.connection == ConnectionUse::Pool;
        let at_start = pooled && load.open == PoolOpen::AtStart;
        // A user's slot is that user's, and no line is needed.
        let none = at_start || load.connection == ConnectionUse::PerUser;
        let mut vacant = Vec::with_capacity(slots as usize);
        vacant.extend((0..slots).rev().filter(|_| !none));
        Self {
            reuse: load.reuse,
            keeps_turn: at_start,
            grouping,
            open: VecDeque::with_capacity(slots as usize),
            vacant,
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.vacant.is_empty()
    }

    /// The slot that takes the next request.
    pub(super) fn next(&self) -> Option<u32> {
        let open = match self.reuse {
            PoolReuse::Recent => self.open.back(),
            PoolReuse::Oldest => self.open.front(),
        };
        open.or(self.vacant.last()).copied()
    }

    /// Of the slots with a connection and of those without, the one that has been free for longest.
    pub(super) fn longest(&self) -> impl Iterator<Item = u32> + '_ {
        let both = [self.open.front(), self.vacant.first()];
        both.into_iter().flatten().copied()
    }

    /// A slot becomes free, with or without a connection.
    pub(super) fn add(&mut self, slot: u32, connected: bool) {
        if connected || self.keeps_turn {
            self.open.push_back(slot);
            return;
        }
        self.lose_group(slot);
        self.vacant.push(slot);
    }

    /// A slot takes a request. If it dials, the slots that will share its connection wait for that.
    pub(super) fn take(&mut self, slot: u32) {
        if !self.remove_open(slot) && self.remove_vacant(slot) && self.grouping.is_shared() {
            let Self {
                grouping,
                open,
                vacant,
                ..
            } = self;
            vacant.retain(|&other| {
                let shares = grouping.group(other) == grouping.group(slot);
                if shares {
                    open.push_back(other);
                }
                !shares
            });
        }
    }

    /// The connection of a free slot was closed. Gives whether the slot is queued.
    pub(super) fn lost(&mut self, slot: u32) -> bool {
        let was_open = !self.keeps_turn && self.remove_open(slot);
        if was_open {
            self.vacant.push(slot);
        }
        was_open
    }

    /// The other free slots of a connection that was lost have none either.
    fn lose_group(&mut self, slot: u32) {
        if !self.grouping.is_shared() {
            return;
        }
        let Self {
            grouping,
            open,
            vacant,
            ..
        } = self;
        open.retain(|&other| {
            let shares = grouping.group(other) == grouping.group(slot);
            if shares {
                vacant.push(other);
            }
            !shares
        });
    }

    fn remove_open(&mut self, slot: u32) -> bool {
        if self.open.back() == Some(&slot) {
            self.open.pop_back();
            return true;
        }
        let place = self.open.iter().position(|&other| other == slot);
        place.and_then(|place| self.open.remove(place)).is_some()
    }

    fn remove_vacant(&mut self, slot: u32) -> bool {
        let place = self.vacant.iter().rposition(|&other| other == slot);
        place.map(|place| self.vacant.remove(place)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::plan::Plan;
    use slowpath_core::scenario::{Http, LoadDraft, Scenario};

    use super::*;
    use crate::share::Share;

    const SLOTS: u32 = 4;

    fn free(draft: LoadDraft) -> Free {
        let streams = draft.streams.unwrap_or(1);
        let mut scenario = Scenario::from_url("http://127.0.0.1:1/").unwrap();
        scenario.load = LoadDraft {
            rate_per_s: Some(1.0),
            connections: Some(SLOTS / streams),
            ..draft
        }
        .resolve()
        .unwrap();
        scenario.target.http = Http::Two;
        let plan = Plan {
            scenario,
            seed: 1,
            release: None,
        };
        let grouping = Grouping::new(&plan, Share { index: 0, of: 1 });
        Free::new(&plan.scenario.load, grouping, SLOTS)
    }

    /// What is taken until none is left.
    fn all(free: &mut Free) -> Vec<u32> {
        let take = || {
            let slot = free.next()?;
            free.take(slot);
            Some(slot)
        };
        std::iter::from_fn(take).collect()
    }

    #[test]
    fn the_last_one_used_goes_before_others_and_those_before_a_dial() {
        let mut free = free(LoadDraft::default());
        assert_eq!(free.next(), Some(0));
        free.take(0);
        free.take(1);
        free.add(1, true);
        free.add(0, true);
        assert_eq!(all(&mut free), [0, 1, 2, 3]);
        assert!(free.is_empty());
        free.add(2, true);
        free.add(1, false);
        free.add(3, true);
        assert_eq!(all(&mut free), [3, 2, 1]);
    }

    #[test]
    fn the_oldest_goes_first_where_that_is_asked_for() {
        let mut free = free(LoadDraft {
            reuse: Some(PoolReuse::Oldest),
            ..LoadDraft::default()
        });
        free.take(0);
        free.take(1);
        free.add(1, true);
        free.add(0, true);
        assert_eq!(all(&mut free), [1, 0, 2, 3]);
    }

    #[test]
    fn a_connection_that_is_closed_leaves_the_line() {
        let mut free = free(LoadDraft::default());
        assert_eq!(all(&mut free).len(), 4);
        for slot in 0..SLOTS {
            free.add(slot, true);
        }
        assert!(free.lost(3) && !free.lost(3));
        assert_eq!(all(&mut free), [2, 1, 0, 3]);
        assert!(!free.lost(0), "it is not free");
    }

    #[test]
    fn slots_opened_at_the_start_keep_their_turns() {
        let mut free = free(LoadDraft {
            reuse: Some(PoolReuse::Oldest),
            open: Some(PoolOpen::AtStart),
            ..LoadDraft::default()
        });
        assert!(free.is_empty(), "none is opened yet");
        for (slot, connected) in [(0, true), (1, false), (2, true)] {
            free.add(slot, connected);
        }
        assert!(!free.lost(0));
        assert_eq!(all(&mut free), [0, 1, 2]);
    }

    #[test]
    fn streams_of_a_dialled_connection_go_before_another_dial() {
        let mut free = free(LoadDraft {
            streams: Some(2),
            ..LoadDraft::default()
        });
        free.take(0);
        free.add(0, true);
        assert_eq!(all(&mut free), [0, 1, 2, 3]);
        for slot in [2, 0, 1] {
            free.add(slot, true);
        }
        // The other stream of the connection that was lost has none either.
        free.add(3, false);
        assert_eq!(all(&mut free)[..2], [1, 0]);
    }

    #[test]
    fn those_that_are_free_for_longest_are_at_the_ends() {
        let mut free = free(LoadDraft::default());
        free.take(0);
        free.take(1);
        free.add(1, true);
        free.add(0, true);
        assert_eq!(free.longest().collect::<Vec<_>>(), [1, 3]);
    }
}
