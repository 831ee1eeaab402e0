//! Brings what is due and what is free together.
//!
//! A slot is room for one connection. It waits here for something to do; whoever brings the second
//! half of a pair (the timer a request that became due, or a slot that became free) makes the
//! match. Slots that wait stand in line, so that the connection idle for longest goes first.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, Waker};

use slowpath_core::Nanos;
use slowpath_core::facts::EndpointTally;
use slowpath_core::nanos::Span;
use slowpath_core::plan::{Choice, Choices, Plan};
use slowpath_core::sample::Stage;
use slowpath_core::scenario::{ConnectionUse, Model};

use crate::demand::{Demand, Due};
use crate::share::Share;
use crate::tally::Tally;
use crate::timer::Timer;

/// Part of the warm-up over which a pool's connections are opened, so that a server with a short
/// backlog is not hit by all of them at once and the rest of the warm-up finds them there.
const OPENING_SHARE: f64 = 0.25;

/// What a slot has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Open its connection ahead of any request.
    Open,
    /// Send a request.
    Send,
}

/// One request as it is handed to a slot.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// When it was due, and for whom.
    pub(crate) due: Due,
    /// When a slot was free for it.
    pub(crate) ready: Nanos,
    /// Its number in the repeat.
    pub(crate) serial: u32,
    /// Whether it counts.
    pub(crate) stage: Stage,
    /// What it asks for.
    pub(crate) choice: Choice,
}

impl Order {
    /// Room for an order.
    pub(crate) fn empty() -> Self {
        let scheduled = Nanos::new(0);
        Self {
            due: Due { scheduled, user: 0 },
            ready: scheduled,
            serial: 0,
            stage: Stage::Warmup,
            choice: Choice {
                endpoint: 0,
                picks: Vec::new(),
                uuid: 0,
            },
        }
    }
}

#[derive(Debug)]
struct Slot {
    task: Option<Task>,
    order: Order,
    free_since: Nanos,
    waker: Option<Waker>,
}

impl Slot {
    fn new(free_since: Nanos) -> Self {
        Self {
            task: None,
            order: Order::empty(),
            free_since,
            waker: None,
        }
    }
}

/// Pool connections still to be opened: a loop's share of those of the whole load.
#[derive(Debug)]
struct Opening {
    share: Share,
    next_slot: u32,
    slots: u32,
    start: Nanos,
    gap_ns: u64,
}

impl Opening {
    fn next(&self) -> Option<Nanos> {
        let number = self.share.number(self.next_slot);
        let at = self.start.plus(self.gap_ns * u64::from(number));
        (self.next_slot < self.slots).then_some(at)
    }
}

#[derive(Debug)]
struct State {
    share: Share,
    demand: Demand,
    choices: Choices,
    slots: Vec<Slot>,
    idle: VecDeque<u32>,
    opening: Opening,
    tally: Tally,
    weights: Vec<f64>,
    /// What was due before and is not taken up by then is given up.
    window_begin: Nanos,
    /// Nothing is taken up from here on.
    closing: Nanos,
    next_serial: u32,
    under_way: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    state: RefCell<State>,
    timer: Timer,
    per_user: bool,
}

impl Dispatcher {
    /// The dispatcher of a loop's share of one repeat. Needs a running runtime.
    pub(crate) fn new(
        plan: &Plan,
        repeat: u16,
        share: Share,
        start: Nanos,
        window: Span,
    ) -> io::Result<Self> {
        let load = &plan.scenario.load;
        let all_slots = slots(plan);
        let slots = share.part(all_slots);
        let pooled = load.connection == ConnectionUse::Pool;
        let endpoints = &plan.scenario.endpoints;
        let dispatcher = Self {
            state: RefCell::new(State {
                share,
                demand: Demand::new(plan, repeat, share, start),
                choices: plan.choices_of_loop(repeat, share.index),
                slots: (0..slots).map(|_| Slot::new(start)).collect(),
                idle: if pooled {
                    VecDeque::new()
                } else {
                    (0..slots).collect()
                },
                opening: Opening {
                    share,
                    next_slot: 0,
                    slots: if pooled { slots } else { 0 },
                    start,
                    gap_ns: (load.warmup_ns as f64 * OPENING_SHARE) as u64 / u64::from(all_slots),
                },
                tally: Tally::new(window, endpoints.len()),
                weights: endpoints.iter().map(|endpoint| endpoint.weight).collect(),
                window_begin: window.begin,
                closing: window.end,
                next_serial: 0,
                under_way: 0,
            }),
            timer: Timer::new()?,
            per_user: load.connection == ConnectionUse::PerUser,
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
                state.hand(slot, Task::Open);
                state.wake(slot);
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

    /// The slot finished a request at `done`: its user goes on, and so does the slot. Called by
    /// the slot's own task, which asks for its next task without being woken.
    pub(crate) fn finished(&self, slot: u32, order: &Order, done: Nanos, dialled: bool) {
        let mut state = self.state.borrow_mut();
        state.under_way -= 1;
        match state.demand.after(order.due.user, done, dialled) {
            Some(due) if self.per_user && due.scheduled <= done && done < state.closing => {
                state.slots[slot as usize].free_since = done;
                state.assign(slot, due);
                return;
            }
            Some(due) => state.demand.enqueue(due),
            None => {}
        }
        self.set_free(&mut state, slot, done);
    }

    /// The slot is free from `at` on. Called by the slot's own task.
    pub(crate) fn free(&self, slot: u32, at: Nanos) {
        self.set_free(&mut self.state.borrow_mut(), slot, at);
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
            weights,
            closing,
            ..
        } = self.state.into_inner();
        tally.close(&mut demand, &mut choices, &weights, closing)
    }

    fn set_free(&self, state: &mut State, slot: u32, at: Nanos) {
        state.slots[slot as usize].free_since = at;
        if !self.per_user {
            state.idle.push_back(slot);
        }
        self.hand_out(state, at, Some(slot));
    }

    /// Hands what is due at `now` to whoever is free; `awake` needs no waking.
    fn hand_out(&self, state: &mut State, now: Nanos, awake: Option<u32>) {
        let late = now >= state.closing;
        if late && self.per_user {
            return;
        }
        if now >= state.window_begin {
            // A warm-up that the target could not keep up with is not worth measuring behind:
            // the window would hold nothing but the warm-up's requests.
            let begin = state.window_begin;
            state.demand.abandon_before(begin);
        }
        let until = now.min(state.closing.minus(1));
        while self.per_user || state.has_room(late) {
            let Some(due) = state.demand.take(until) else {
                break;
            };
            let slot = if self.per_user {
                Some(due.user)
            } else {
                state.idle.pop_front()
            };
            let slot = slot.expect("the line of free slots is not empty");
            state.assign(slot, due);
            if awake != Some(slot) {
                state.wake(slot);
            }
        }
        self.arm(state);
    }

    /// Sets the timer to whatever comes next. What is due while no slot is free needs no timer:
    /// the slot that becomes free takes it.
    fn arm(&self, state: &State) {
        let has_room = self.per_user || !state.idle.is_empty();
        let due = state.demand.next().filter(|_| has_room);
        let next = match (due, state.opening.next()) {
            (Some(due), Some(opening)) => Some(due.min(opening)),
            (due, opening) => due.or(opening),
        };
        if let Some(at) = next.filter(|&at| at < state.closing) {
            self.timer.arm_by(at);
        }
    }
}

impl State {
    /// Whether a slot is free. After the end only those count that were free before it: what
    /// they did not get was our delay, and what the others did not get was the target's.
    fn has_room(&self, late: bool) -> bool {
        let first = self.idle.front();
        first.is_some_and(|&slot| !late || self.slots[slot as usize].free_since < self.closing)
    }

    fn assign(&mut self, slot: u32, due: Due) {
        let order = &mut self.slots[slot as usize].order;
        self.choices.next_into(&mut order.choice);
        order.due = due;
        order.serial = self.share.number(self.next_serial);
        order.stage = if self.tally.is_measured(due.scheduled) {
            Stage::Measured
        } else {
            Stage::Warmup
        };
        self.tally.taken(order.choice.endpoint, due.scheduled);
        self.next_serial += 1;
        self.under_way += 1;
        self.hand(slot, Task::Send);
    }

    fn hand(&mut self, slot: u32, task: Task) {
        let slot = &mut self.slots[slot as usize];
        slot.order.ready = slot.order.due.scheduled.max(slot.free_since);
        slot.task = Some(task);
    }

    fn wake(&self, slot: u32) {
        if let Some(waker) = &self.slots[slot as usize].waker {
            waker.wake_by_ref();
        }
    }
}

/// Slots of a whole load: as many as it may have connections.
pub(crate) fn slots(plan: &Plan) -> u32 {
    let load = &plan.scenario.load;
    match (&load.model, load.connection) {
        (Model::Closed { users, .. }, ConnectionUse::PerUser) => *users,
        _ => load.connections,
    }
}
