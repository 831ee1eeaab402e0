//! What is due, what is free, and what was counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::task::Waker;

use rand_chacha::ChaCha8Rng;
use slowpath_core::Nanos;
use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::plan::{Ask, Choices, Lane, Plan, Spent, Stream};
use slowpath_core::sample::Stage;
use slowpath_core::scenario::{ConnectionUse, Model, PoolOpen, Think};

use super::apart::Apart;
use super::free::Free;
use super::grouping::Grouping;
use super::order::{End, Order, Task};
use super::{connections, slots, streams};
use crate::control::{WantedKeys, Withheld};
use crate::demand::{Demand, Due};
use crate::session::Session;
use crate::share::Share;
use crate::tally::Tally;

/// Part of the warm-up over which a pool's connections are opened, so that a server with a short
/// backlog is not hit by all of them at once and the rest of the warm-up finds them there.
const OPENING_SHARE: f64 = 0.25;

/// After how long a user whose request was withheld wants the next one: soon, since it would have
/// waited for an answer in that time, and not at once, since all may be withheld.
const ASK_AGAIN_NS: u64 = MILLISECOND;
/// After how long a user who does not go on looks whether that is over.
const SIT_OUT_NS: u64 = 20 * MILLISECOND;

/// What became of a request that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assigned {
    /// The slot holds it.
    Sent,
    /// It is not sent, on purpose; its user wants another one after so many nanoseconds.
    Withheld(u64),
    /// There is none, and the load is over.
    Spent,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) task: Option<Task>,
    pub(super) order: Order,
    pub(super) free_since: Nanos,
    /// When its connection has rested since then; no later than that if it need not.
    pub(super) rested: Nanos,
    pub(super) waker: Option<Waker>,
}

impl Slot {
    pub(super) fn new(free_since: Nanos) -> Self {
        Self {
            task: None,
            order: Order::empty(),
            free_since,
            rested: free_since,
            waker: None,
        }
    }
}

impl Rest {
    pub(super) fn next(&self) -> Option<Nanos> {
        self.slots.peek().map(|Reverse((at, _))| *at)
    }
}

/// Pool connections still to be opened: a loop's share of those of the whole load.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) share: Share,
    pub(super) next_slot: u32,
    pub(super) slots: u32,
    pub(super) start: Nanos,
    pub(super) gap_ns: u64,
}

impl Opening {
    pub(super) fn next(&self) -> Option<Nanos> {
        let number = self.share.number(self.next_slot);
        let at = self.start.plus(self.gap_ns * u64::from(number));
        (self.next_slot < self.slots).then_some(at)
    }
}

/// How long connections rest before they are used again.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) pause: Think,
    pub(super) random: Box<ChaCha8Rng>,
    /// Slots at rest, and until when.
    pub(super) slots: BinaryHeap<Reverse<(Nanos, u32)>>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) share: Share,
    pub(super) demand: Demand,
    pub(super) choices: Choices,
    pub(super) lanes: Vec<Lane>,
    /// Of each user of a closed loop; empty while one of its requests is under way.
    pub(super) sessions: Vec<Session>,
    pub(super) slots: Vec<Slot>,
    pub(super) free: Free,
    pub(super) rest: Option<Rest>,
    pub(super) opening: Opening,
    pub(super) tally: Tally,
    /// A pool of unique values that had none left for a request.
    pub(super) spent: Option<Spent>,
    /// What was due before and is not taken up by then is given up.
    pub(super) window_begin: Nanos,
    /// Nothing is taken up from here on.
    pub(super) closing: Nanos,
    pub(super) next_serial: u32,
    /// The latest instant at which one that was taken up was due.
    pub(super) latest: Nanos,
    pub(super) under_way: u32,
    /// The keys under way.
    pub(super) apart: Apart,
    /// What is not sent, on purpose.
    pub(super) withhold: Withheld,
    /// Measured requests that were not.
    pub(super) withheld: u64,
    /// Of each lane, what was due while one of so many was sent.
    turns: Vec<u32>,
}

impl State {
    /// Nothing was handed out yet.
    pub(super) fn new(
        plan: &Plan,
        repeat: u16,
        share: Share,
        (start, window): (Nanos, Span),
        silent: bool,
    ) -> Self {
        let load = &plan.scenario.load;
        let lanes = plan.lanes();
        let turns = vec![0; lanes.len()];
        let all_slots = u64::from(connections(plan)) * u64::from(streams(plan));
        let slots = slots(plan, share);
        // In a silent warm-up a pool that grows on demand has no connection yet, since nothing was
        // asked for: how many the load needs shows within the window.
        let opens = match load.connection {
            ConnectionUse::Pool => load.open == PoolOpen::AtStart,
            ConnectionUse::PerUser => silent,
            ConnectionUse::PerRequest => false,
        };
        let first = if silent { window.begin } else { start };
        let rest = |pause| Rest {
            pause,
            random: Box::new(plan.random_of_loop(repeat, share.index, Stream::Rest)),
            slots: BinaryHeap::new(),
        };
        let users = match load.model {
            Model::Closed { users, .. } => share.part(users) as usize,
            Model::Open { .. } => 0,
        };
        Self {
            share,
            demand: Demand::new(plan, repeat, share, &lanes, first),
            choices: plan.choices_of_loop(repeat, share.index, share.of),
            lanes,
            sessions: vec![Session::new(plan.scenario.variables.len()); users],
            slots: (0..slots).map(|_| Slot::new(start)).collect(),
            free: Free::new(load, Grouping::new(plan, share), slots),
            rest: load.idle.map(rest),
            opening: Opening {
                share,
                next_slot: 0,
                slots: if opens { slots } else { 0 },
                start,
                gap_ns: (load.warmup_ns as f64 * OPENING_SHARE) as u64 / all_slots,
            },
            tally: Tally::new(window, plan.scenario.endpoints.len()),
            spent: None,
            window_begin: window.begin,
            closing: window.end,
            next_serial: 0,
            latest: start,
            under_way: 0,
            apart: Apart::new(plan, slots),
            withhold: Withheld::NOTHING,
            withheld: 0,
            turns,
        }
    }

    /// The slot that takes the next request, and since when any slot was free: what a request
    /// waited from then on was our delay, whichever slot takes it. After the end only slots count
    /// that were free before it: what they did not get was our delay, and what the others did not
    /// get was the target's.
    pub(super) fn room(&self, late: bool) -> Option<(u32, Nanos)> {
        let since = |slot: u32| self.slots[slot as usize].free_since;
        let longest = self.free.longest().min_by_key(|&slot| since(slot))?;
        if late {
            return (since(longest) < self.closing).then(|| (longest, since(longest)));
        }
        Some((self.free.next()?, since(longest)))
    }

    /// A slot that has nothing to do has no connection any more. Gives whether it can take a
    /// request that it could not take before.
    pub(super) fn lost(&mut self, slot: u32) -> bool {
        if self.free.lost(slot) {
            return false;
        }
        let Some(rest) = &mut self.rest else {
            return false;
        };
        // There is no connection that had to rest.
        let at_rest = rest.slots.len();
        rest.slots.retain(|Reverse((_, other))| *other != slot);
        let was_at_rest = rest.slots.len() < at_rest;
        if was_at_rest {
            let lost = &mut self.slots[slot as usize];
            lost.rested = lost.free_since;
            self.free.add(slot, false);
        }
        was_at_rest
    }

    /// Gives a slot the next request of `due`, unless that is to be withheld. A slot has been free
    /// for it since `since`, if not for longer.
    pub(super) fn assign(&mut self, slot: u32, since: Nanos, mut due: Due) -> Assigned {
        if self.sits_out(due) {
            // A user who sits out wants nothing until then.
            let counts = self.sessions.is_empty() && self.tally.is_measured(due.scheduled);
            self.withheld += u64::from(counts);
            return Assigned::Withheld(SIT_OUT_NS);
        }
        let Slot {
            order,
            free_since,
            rested,
            ..
        } = &mut self.slots[slot as usize];
        if let Some(session) = self.sessions.get_mut(due.user as usize) {
            std::mem::swap(session, &mut order.session);
            // A user who finds connections at rest waits for them of its own free will.
            due.scheduled = due
                .scheduled
                .plus(rested.since(due.scheduled.max(*free_since)));
        }
        let stage = if self.tally.is_measured(due.scheduled) {
            Stage::Measured
        } else {
            Stage::Warmup
        };
        let ask = Ask {
            lane: due.lane,
            is_warmup: stage == Stage::Warmup,
            endpoint: order.session.endpoint(&self.lanes[usize::from(due.lane)]),
            known: order.session.known(),
        };
        if let Err(spent) = self.choices.next_into(ask, &mut order.choice) {
            self.end_early(spent, due);
            return Assigned::Spent;
        }
        self.apart.part(&mut self.choices, ask, &mut order.choice);
        if self.withhold.endpoint == Some(u32::from(order.choice.endpoint)) {
            self.withheld += u64::from(stage == Stage::Measured);
            if let Some(session) = self.sessions.get_mut(due.user as usize) {
                std::mem::swap(session, &mut order.session);
                session.advance(&self.lanes[usize::from(due.lane)]);
            }
            return Assigned::Withheld(ASK_AGAIN_NS);
        }
        order.due = due;
        order.serial = self.share.number(self.next_serial);
        order.stage = stage;
        self.apart.began(slot, &order.choice);
        self.tally.taken(order.choice.endpoint, due.scheduled);
        self.latest = self.latest.max(due.scheduled);
        self.next_serial += 1;
        self.under_way += 1;
        let slot = &mut self.slots[slot as usize];
        slot.order.ready = due.scheduled.max(since);
        slot.task = Some(Task::Send);
        Assigned::Sent
    }

    /// Which keys are asked for from now on.
    pub(super) fn ask_for(&mut self, wanted: WantedKeys) {
        self.apart.on = wanted.apart;
        self.choices.keep_one_of(wanted.of);
    }

    /// Whether a request is one of those of which only one in so many is sent. Users take no turns:
    /// some go on, and the others wait.
    fn sits_out(&mut self, due: Due) -> bool {
        let of = self.withhold.of;
        if of < 2 {
            return false;
        }
        let turn = if self.sessions.is_empty() {
            let turn = &mut self.turns[usize::from(due.lane)];
            *turn = turn.wrapping_add(1);
            *turn
        } else {
            self.share.number(due.user)
        };
        !turn.is_multiple_of(of)
    }

    /// The user of a withheld request wants another one later.
    pub(super) fn ask_again(&mut self, due: Due, now: Nanos, after_ns: u64) {
        let scheduled = due.scheduled.max(now).plus(after_ns);
        self.demand.enqueue(Due { scheduled, ..due });
    }

    /// Ends the load at the request that a pool of unique values had none left for. An open loop
    /// ends at its scheduled instant, and users just stop, so that none counts as unsent.
    pub(super) fn end_early(&mut self, spent: Spent, due: Due) {
        self.spent = Some(spent);
        self.closing = self.closing.min(due.scheduled.max(self.latest.plus(1)));
        self.demand.clear();
    }

    /// The session of a request's user comes back and goes on.
    pub(super) fn take_back(&mut self, order: &mut Order) {
        if let Some(session) = self.sessions.get_mut(order.due.user as usize) {
            std::mem::swap(session, &mut order.session);
            session.advance(&self.lanes[usize::from(order.due.lane)]);
        }
    }

    /// Until when the connection of a request that ended rests.
    pub(super) fn rested(&mut self, end: &End) -> Nanos {
        match &mut self.rest {
            Some(rest) if end.kept => end.done.plus(rest.pause.draw_ns(&mut rest.random)),
            _ => end.done,
        }
    }

    /// Slots that have rested join the line.
    pub(super) fn end_rests(&mut self, now: Nanos) {
        let Some(rest) = &mut self.rest else { return };
        while rest.next().is_some_and(|at| at <= now) {
            if let Some(Reverse((_, slot))) = rest.slots.pop() {
                self.free.add(slot, true);
            }
        }
    }

    /// A slot opens its connection.
    pub(super) fn open(&mut self, slot: u32) {
        self.slots[slot as usize].task = Some(Task::Open);
        self.wake(slot);
    }

    pub(super) fn wake(&self, slot: u32) {
        if let Some(waker) = &self.slots[slot as usize].waker {
            waker.wake_by_ref();
        }
    }
}
