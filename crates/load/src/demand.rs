//! Who wants a request sent when: the schedule of an open loop, or the users of a closed one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_chacha::ChaCha8Rng;
use slowpath_core::Nanos;
use slowpath_core::nanos::SECOND;
use slowpath_core::plan::{Plan, Stream, below};
use slowpath_core::sample::NONE;
use slowpath_core::scenario::{Model, Think};

use crate::pacers::Pacer;
use crate::share::Share;

/// How long a user waits at least after a dial that failed. A refusal comes back within
/// microseconds, so users without think time would spin; 100 tries a second for each user show
/// the fault as well.
const BACKOFF_NS: u64 = 10_000_000;

/// A request that somebody wants sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    /// When.
    pub(crate) scheduled: Nanos,
    /// By whom, among the users of this loop; [`NONE`] in an open loop.
    pub(crate) user: u32,
}

/// The requests to come, in order of schedule: a loop's share of those of the whole load.
#[derive(Debug)]
pub(crate) enum Demand {
    /// The pacer's cursor; a backlog is the stretch behind it, whatever its length.
    Open {
        pacer: Pacer,
        rate_per_s: f64,
        start: Nanos,
        next: Nanos,
        /// Entries of the whole schedule from one of this loop's to the next.
        stride: u32,
    },
    /// Users who are waiting for their turn; those under way are not in it.
    Closed {
        waiting: BinaryHeap<Reverse<Due>>,
        think: Think,
        random: Box<ChaCha8Rng>,
    },
}

impl Demand {
    /// A loop's share of the demand of one repeat that begins at `start`.
    pub(crate) fn new(plan: &Plan, repeat: u16, share: Share, start: Nanos) -> Self {
        match &plan.scenario.load.model {
            Model::Open {
                rate_per_s,
                arrivals,
            } => {
                let random = plan.random(repeat, Stream::Arrivals);
                let mut pacer = Pacer::new(*rate_per_s, *arrivals, random);
                let next = start.plus(entry_after(&mut pacer, share.index));
                Self::Open {
                    pacer,
                    rate_per_s: *rate_per_s / f64::from(share.of),
                    start,
                    next,
                    stride: share.of,
                }
            }
            Model::Closed {
                users,
                spawn_per_s,
                think,
            } => {
                let gap_ns = spawn_per_s.map_or(0.0, |rate| SECOND as f64 / rate);
                let due = |user: u32| Due {
                    scheduled: start.plus((gap_ns * f64::from(share.number(user))) as u64),
                    user,
                };
                let random = plan.random_of_loop(repeat, share.index, Stream::Think);
                Self::Closed {
                    waiting: (0..share.part(*users))
                        .map(|user| Reverse(due(user)))
                        .collect(),
                    think: *think,
                    random: Box::new(random),
                }
            }
        }
    }

    /// When the next request is due; `None` while every user is under way.
    pub(crate) fn next(&self) -> Option<Nanos> {
        match self {
            Self::Open { next, .. } => Some(*next),
            Self::Closed { waiting, .. } => waiting.peek().map(|due| due.0.scheduled),
        }
    }

    /// Takes the next request if it is due at `now`.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<Due> {
        if self.next()? > now {
            return None;
        }
        match self {
            Self::Open {
                pacer,
                start,
                next,
                stride,
                ..
            } => {
                let scheduled = *next;
                *next = start.plus(entry_after(pacer, *stride - 1));
                Some(Due {
                    scheduled,
                    user: NONE,
                })
            }
            Self::Closed { waiting, .. } => waiting.pop().map(|due| due.0),
        }
    }

    /// Gives up what an open loop has not taken of its schedule before `at`. Users of a closed
    /// loop never fall behind.
    pub(crate) fn abandon_before(&mut self, at: Nanos) {
        let last = at.minus(1);
        while matches!(self, Self::Open { .. }) && self.take(last).is_some() {}
    }

    /// What the user of a request that ended at `done` wants next: `None` in an open loop.
    /// `dialled` says whether there was a connection at all.
    pub(crate) fn after(&mut self, user: u32, done: Nanos, dialled: bool) -> Option<Due> {
        let Self::Closed { think, random, .. } = self else {
            return None;
        };
        let spread_ns = think.max_ns.saturating_sub(think.min_ns);
        let pause_ns = match spread_ns {
            0 => think.min_ns,
            _ => think.min_ns + below(random, spread_ns.saturating_add(1)),
        };
        let least_ns = if dialled { 0 } else { BACKOFF_NS };
        Some(Due {
            scheduled: done.plus(pause_ns.max(least_ns)),
            user,
        })
    }

    /// Puts a user in line.
    pub(crate) fn enqueue(&mut self, due: Due) {
        if let Self::Closed { waiting, .. } = self {
            waiting.push(Reverse(due));
        }
    }

    /// How many requests an open loop is expected to schedule from its cursor to `end`.
    pub(crate) fn expected_until(&self, end: Nanos) -> f64 {
        match self {
            Self::Open {
                rate_per_s, next, ..
            } => end.since(*next) as f64 / SECOND as f64 * rate_per_s,
            Self::Closed { waiting, .. } => waiting.len() as f64,
        }
    }
}

/// Skips entries of a schedule; gives the one behind them.
fn entry_after(pacer: &mut Pacer, skipped: u32) -> u64 {
    for _ in 0..skipped {
        pacer.next_ns();
    }
    pacer.next_ns()
}
