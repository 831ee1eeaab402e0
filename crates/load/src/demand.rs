//! Who wants a request sent when: the schedules of an open loop, or the users of a closed one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use slowpath_core::Nanos;
use slowpath_core::nanos::SECOND;
use slowpath_core::plan::{Lane, Plan, Stream};
use slowpath_core::sample::NONE;
use slowpath_core::scenario::{Model, Think, deal};

use crate::pacers::Pacer;
use crate::share::Share;

/// How long a user waits at least after a dial that failed. A refusal comes back within
/// microseconds, so users without think time would spin; 100 tries a second for each user show
/// the fault as well.
const BACKOFF_NS: u64 = 10_000_000;

/// Entries of a schedule that are given up one by one at most: a tenth of a second's work. Past
/// that the schedule is entered again, where several loops no longer alternate entry by entry; a
/// rate that leaves such a backlog is not kept by any of them.
const MOST_SKIPPED: f64 = 1e6;

/// A request that a user or a schedule wants sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    /// When.
    pub(crate) scheduled: Nanos,
    /// By which of the users of this loop; [`NONE`] in an open loop.
    pub(crate) user: u32,
    /// Of which lane of the plan: a schedule, or a class of users.
    pub(crate) lane: u16,
}

/// A loop's share of the schedule of one lane of an open loop.
#[derive(Debug)]
pub(crate) struct Schedule {
    pacer: Pacer,
    rate_per_s: f64,
    start: Nanos,
    /// The pacer's cursor; a backlog is the stretch before it, of any length.
    next: Nanos,
    /// Entries of the whole schedule from one of this loop's to the next.
    stride: u32,
}

impl Schedule {
    fn new(mut pacer: Pacer, rate_per_s: f64, share: Share, start: Nanos) -> Self {
        let next = start.plus(entry_after(&mut pacer, share.index));
        Self {
            pacer,
            rate_per_s: rate_per_s / f64::from(share.of),
            start,
            next,
            stride: share.of,
        }
    }

    /// Gives up what lies before `at`.
    fn skip_to(&mut self, at: Nanos) {
        let backlog = at.since(self.next) as f64 / SECOND as f64 * self.rate_per_s;
        if backlog > MOST_SKIPPED {
            self.next = self.start.plus(self.pacer.jump_ns(at.since(self.start)));
        }
        while self.next < at {
            self.advance();
        }
    }

    fn advance(&mut self) -> Nanos {
        let present = self.next;
        let next_ns = entry_after(&mut self.pacer, self.stride - 1);
        self.next = self.start.plus(next_ns);
        present
    }
}

/// Skips entries of a schedule; gives the one after them.
fn entry_after(pacer: &mut Pacer, skipped: u32) -> u64 {
    for _ in 0..skipped {
        pacer.next_ns();
    }
    pacer.next_ns()
}

/// The requests to come, in order of schedule: a loop's share of those of the whole load.
#[derive(Debug)]
pub(crate) enum Demand {
    /// A schedule for each lane.
    Open { schedules: Vec<Schedule> },
    /// Users who are waiting for their turn; those under way are not in it.
    Closed {
        waiting: BinaryHeap<Reverse<Due>>,
        /// The pauses of each lane's users.
        thinks: Vec<Think>,
        random: Box<ChaCha8Rng>,
    },
}

impl Demand {
    /// A loop's share of the demand of one repeat whose first request may be due at `start`.
    pub(crate) fn new(
        plan: &Plan,
        repeat: u16,
        share: Share,
        lanes: &[Lane],
        start: Nanos,
    ) -> Self {
        match &plan.scenario.load.model {
            Model::Open { arrivals, .. } => {
                let schedule = |(number, lane): (u16, &Lane)| {
                    let random = plan.random_of_lane(repeat, 0, number, Stream::Arrivals);
                    let pacer = Pacer::new(lane.rate_per_s, *arrivals, random);
                    Schedule::new(pacer, lane.rate_per_s, share, start)
                };
                Self::Open {
                    schedules: (0..).zip(lanes).map(schedule).collect(),
                }
            }
            Model::Closed {
                users, spawn_per_s, ..
            } => {
                let gap_ns = spawn_per_s.map_or(0.0, |rate| SECOND as f64 / rate);
                let shares: Vec<f64> = plan.scenario.users.iter().map(|u| u.share).collect();
                let classes = deal(&shares, *users);
                let due = |user: u32| Due {
                    scheduled: start.plus((gap_ns * f64::from(share.number(user))) as u64),
                    user,
                    lane: classes[share.number(user) as usize],
                };
                let users = 0..share.part(*users);
                Self::Closed {
                    waiting: users.map(|user| Reverse(due(user))).collect(),
                    thinks: lanes.iter().map(|lane| lane.think).collect(),
                    random: Box::new(plan.random_of_loop(repeat, share.index, Stream::Think)),
                }
            }
        }
    }

    /// When the next request is due; `None` while every user is under way.
    pub(crate) fn next(&self) -> Option<Nanos> {
        match self {
            Self::Open { schedules } => schedules.iter().map(|schedule| schedule.next).min(),
            Self::Closed { waiting, .. } => waiting.peek().map(|due| due.0.scheduled),
        }
    }

    /// Takes the next request if it is due at `now`.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Due> {
        match self {
            Self::Open { schedules } => {
                let numbered = (0..).zip(schedules);
                let (lane, schedule) = numbered.min_by_key(|(_, schedule)| schedule.next)?;
                (schedule.next <= now).then(|| Due {
                    scheduled: schedule.advance(),
                    user: NONE,
                    lane,
                })
            }
            Self::Closed { waiting, .. } => {
                let is_due = waiting.peek().is_some_and(|due| due.0.scheduled <= now);
                is_due.then(|| waiting.pop())?.map(|due| due.0)
            }
        }
    }

    /// Gives up what an open loop has not taken of its schedules before `at`. Users of a closed
    /// loop are never late.
    pub(crate) fn abandon_before(&mut self, at: Nanos) {
        if let Self::Open { schedules } = self {
            for schedule in schedules {
                schedule.skip_to(at);
            }
        }
    }

    /// What the user of `last`, which ended at `done`, wants next, no earlier than `rested`:
    /// `None` in an open loop. `dialled` says whether there was a connection at all.
    pub(crate) fn after(
        &mut self,
        last: Due,
        done: Nanos,
        rested: Nanos,
        dialled: bool,
    ) -> Option<Due> {
        let Self::Closed { thinks, random, .. } = self else {
            return None;
        };
        let pause_ns = thinks[usize::from(last.lane)].draw_ns(random);
        let least_ns = if dialled { 0 } else { BACKOFF_NS };
        Some(Due {
            scheduled: done.plus(pause_ns.max(least_ns)).max(rested),
            ..last
        })
    }

    /// Puts a user into the queue.
    pub(crate) fn enqueue(&mut self, due: Due) {
        if let Self::Closed { waiting, .. } = self {
            waiting.push(Reverse(due));
        }
    }

    /// Nothing is wanted any more.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Open { schedules } => schedules.clear(),
            Self::Closed { waiting, .. } => waiting.clear(),
        }
    }

    /// How many requests a lane of an open loop is expected to schedule from its cursor, or from
    /// `begin` if that is later, to `end`.
    pub(crate) fn expected(&self, lane: usize, begin: Nanos, end: Nanos) -> f64 {
        match self {
            Self::Open { schedules } => schedules.get(lane).map_or(0.0, |schedule| {
                let ns = end.since(schedule.next.max(begin));
                ns as f64 / SECOND as f64 * schedule.rate_per_s
            }),
            Self::Closed { .. } => 0.0,
        }
    }
}
