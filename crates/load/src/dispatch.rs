//! Brings what is due and what is free together.
//!
//! A slot is room for one request: a connection, or a stream of one that is shared. It waits here
//! for something to do. The second half of a pair makes the match: the timer brings a request that
//! became due, or a slot becomes free. Which of the free slots goes first is decided in `free`. A
//! slot whose connection has to rest first is free when it has rested.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::io;
use std::task::{Context, Poll};

use slowpath_core::Nanos;
use slowpath_core::facts::EndpointTally;
use slowpath_core::nanos::Span;
use slowpath_core::plan::{Plan, Spent};
use slowpath_core::scenario::{ConnectionUse, Http, Model};

use crate::control::{WantedKeys, Withheld};
use crate::share::Share;
use crate::timer::Timer;

mod apart;
mod free;
mod grouping;
mod order;
mod state;

pub(crate) use grouping::Grouping;
pub(crate) use order::{End, Order, Task};
use state::{Assigned, Rest, State};

/// See the module.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    state: RefCell<State>,
    timer: Timer,
    per_user: bool,
}

impl Dispatcher {
    /// The dispatcher of a loop's share of one repeat. In a `silent` warm-up nothing but
    /// connections is asked of the target. Needs a running runtime.
    pub(crate) fn new(
        plan: &Plan,
        repeat: u16,
        share: Share,
        (start, window): (Nanos, Span),
        silent: bool,
    ) -> io::Result<Self> {
        let dispatcher = Self {
            state: RefCell::new(State::new(plan, repeat, share, (start, window), silent)),
            timer: Timer::new()?,
            per_user: plan.scenario.load.connection == ConnectionUse::PerUser,
        };
        dispatcher.timer.arm_by(start);
        Ok(dispatcher)
    }

    /// Hands out what is due whenever the timer goes off; never ends by itself.
    pub(crate) async fn keep_time(&self, now: impl Fn() -> Nanos) {
        loop {
            std::future::poll_fn(|cx| self.timer.poll_expired(cx)).await;
            let now = now();
            let mut state = self.state.borrow_mut();
            while state.opening.next().is_some_and(|at| at <= now) {
                let slot = state.opening.next_slot;
                state.opening.next_slot += 1;
                state.open(slot);
            }
            self.hand_out(&mut state, now, None);
        }
    }

    /// Waits until the slot has something to do; a request is put into `order`.
    pub(crate) fn poll_task(
        &self,
        slot: u32,
        order: &mut Order,
        cx: &mut Context<'_>,
    ) -> Poll<Task> {
        let mut state = self.state.borrow_mut();
        let slot = &mut state.slots[slot as usize];
        // Every waker of a task is as good as any other, so one is enough for its whole life.
        if slot.waker.is_none() {
            slot.waker = Some(cx.waker().clone());
        }
        match slot.task.take() {
            None => Poll::Pending,
            Some(task) => {
                std::mem::swap(&mut slot.order, order);
                Poll::Ready(task)
            }
        }
    }

    /// Wakes the task of a slot.
    pub(crate) fn wake(&self, slot: u32) {
        self.state.borrow().wake(slot);
    }

    /// The slot finished a request as `end` says: its user goes on, and so does the slot. Called
    /// by the slot's own task, which asks for its next task without being woken.
    pub(crate) fn finished(&self, slot: u32, order: &mut Order, end: &End) {
        let mut state = self.state.borrow_mut();
        state.under_way -= 1;
        state.apart.ended(slot);
        let rested = state.rested(end);
        state.take_back(order);
        let waits_for = if self.per_user { rested } else { end.done };
        let next = state
            .demand
            .after(order.due, end.done, waits_for, end.dialled);
        match next {
            Some(due) if self.per_user && due.scheduled <= end.done && end.done < state.closing => {
                state.slots[slot as usize].free_since = end.done;
                let Assigned::Withheld(after_ns) = state.assign(slot, end.done, due) else {
                    return;
                };
                state.ask_again(due, end.done, after_ns);
            }
            Some(due) => state.demand.enqueue(due),
            None => {}
        }
        self.set_free(&mut state, slot, (end.done, rested), end.kept);
    }

    /// The slot has opened its connection, or tried to, and is free from `at` on. Called by the
    /// slot's own task.
    pub(crate) fn opened(&self, slot: u32, at: Nanos) {
        self.set_free(&mut self.state.borrow_mut(), slot, (at, at), true);
    }

    /// The connection of a slot that has nothing to do was closed, as noticed at `at`.
    pub(crate) fn lost(&self, slot: u32, at: Nanos) {
        let mut state = self.state.borrow_mut();
        if state.lost(slot) {
            self.hand_out(&mut state, at, None);
        }
    }

    /// Whether at `now` nothing is under way and nothing will be handed out any more.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        let mut state = self.state.borrow_mut();
        if now < state.closing {
            return false;
        }
        // A loop that was held up across the end still owes what was due before it.
        self.hand_out(&mut state, now, None);
        state.under_way == 0
    }

    /// Measured requests handed out so far.
    pub(crate) fn taken(&self) -> u64 {
        self.state.borrow().tally.offered()
    }

    /// What is withheld from now on.
    pub(crate) fn withhold(&self, wanted: Withheld) {
        self.state.borrow_mut().withhold = wanted;
    }

    /// Which keys are asked for from now on.
    pub(crate) fn ask_for(&self, wanted: WantedKeys) {
        self.state.borrow_mut().ask_for(wanted);
    }

    /// Measured requests withheld so far.
    pub(crate) fn withheld(&self) -> u64 {
        self.state.borrow().withheld
    }

    /// The instant from which on nothing is handed out.
    pub(crate) fn closing(&self) -> Nanos {
        self.state.borrow().closing
    }

    /// Hands out nothing from `at` on, if that is earlier than planned.
    pub(crate) fn close(&self, at: Nanos) {
        let mut state = self.state.borrow_mut();
        state.closing = state.closing.min(at);
    }

    /// Counts what was never handed out; gives all counts.
    pub(crate) fn into_tally(self) -> Vec<EndpointTally> {
        let State {
            mut demand,
            mut choices,
            tally,
            lanes,
            sessions,
            rest,
            closing,
            ..
        } = self.state.into_inner();
        if rest.is_some() && !sessions.is_empty() {
            // Users who wait for a connection at rest do so of their own free will.
            demand.clear();
        }
        tally.close(&mut demand, &mut choices, &lanes, closing)
    }

    /// The pool of unique values that had none left for a request, which ended the load.
    pub(crate) fn spent(&self) -> Option<Spent> {
        self.state.borrow().spent
    }

    fn set_free(
        &self,
        state: &mut State,
        slot: u32,
        (at, rested): (Nanos, Nanos),
        connected: bool,
    ) {
        state.slots[slot as usize].free_since = at;
        state.slots[slot as usize].rested = rested;
        match &mut state.rest {
            _ if self.per_user => {}
            Some(rest) if rested > at => rest.slots.push(Reverse((rested, slot))),
            _ => state.free.add(slot, connected),
        }
        self.hand_out(state, at, Some(slot));
    }

    /// Hands what is due at `now` to free slots; `awake` needs no waking.
    fn hand_out(&self, state: &mut State, now: Nanos, awake: Option<u32>) {
        let late = now >= state.closing;
        if late && self.per_user {
            return;
        }
        if now >= state.window_begin {
            // A warm-up that the target could not keep up with is not worth a measurement after it:
            // the window would hold nothing but the warm-up's requests.
            let begin = state.window_begin;
            state.demand.abandon_before(begin);
        }
        let until = now.min(state.closing.minus(1));
        state.end_rests(until);
        loop {
            let room = state.room(late);
            if !self.per_user && room.is_none() {
                break;
            }
            let Some(due) = state.demand.take(until) else {
                break;
            };
            let (slot, since) = match room {
                Some(room) => room,
                None => (due.user, state.slots[due.user as usize].free_since),
            };
            let assigned = state.assign(slot, since, due);
            if assigned == Assigned::Sent && !self.per_user {
                state.free.take(slot);
            }
            match assigned {
                Assigned::Sent if awake == Some(slot) => {}
                Assigned::Sent => state.wake(slot),
                Assigned::Withheld(after_ns) => state.ask_again(due, until, after_ns),
                Assigned::Spent => break,
            }
        }
        self.arm(state);
    }

    /// Sets the timer to whatever comes next. What is due while no slot is free needs no timer:
    /// the slot that becomes free takes it.
    fn arm(&self, state: &State) {
        let has_room = self.per_user || !state.free.is_empty();
        let due = state.demand.next().filter(|_| has_room);
        let rested = state.rest.as_ref().and_then(Rest::next);
        let next = [due, rested, state.opening.next()]
            .into_iter()
            .flatten()
            .min();
        if let Some(at) = next.filter(|&at| at < state.closing) {
            self.timer.arm_by(at);
        }
    }
}

/// Slots of a loop's share of a load: room for one request each, which is a connection, or a stream
/// of one that is shared.
pub(crate) fn slots(plan: &Plan, share: Share) -> u32 {
    share.part(connections(plan)).saturating_mul(streams(plan))
}

/// Slots that share a connection.
pub(crate) fn streams(plan: &Plan) -> u32 {
    let load = &plan.scenario.load;
    let shared = plan.scenario.target.http == Http::Two && load.connection == ConnectionUse::Pool;
    if shared { load.streams } else { 1 }
}

/// Connections that a whole load may have.
pub(crate) fn connections(plan: &Plan) -> u32 {
    let load = &plan.scenario.load;
    match (&load.model, load.connection) {
        (Model::Closed { users, .. }, ConnectionUse::PerUser) => *users,
        _ => load.connections,
    }
}
