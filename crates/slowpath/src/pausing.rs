//! A thread of the target is kept from going on, as long as the target answers without it.
//!
//! The thread may have a lock that no other process can see. Then requests stop, and it is released at once;
//! another moment is tried. What was not paused long enough refutes nothing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use slowpath_load::{Control, Progress};
use slowpath_observe::guardian::Guardian;
use slowpath_observe::interventions::{InterventionError, ThreadPause};

/// For how long requests may be under way and none of them end: the load reports 50 times a second, and
/// a busy machine holds everything up for that long.
const PATIENCE_LEAST: Duration = Duration::from_millis(150);
/// … and so many times what a request takes that counts as slow.
const PATIENCE_SLOW: f64 = 3.0;
/// How long a thread that was released runs before it is held again: it gets out of its lock.
const BREATH: Duration = Duration::from_millis(100);
/// How often it is released because requests waited, block by block, before it is left alone.
const GIVEN_UP_MOST: u32 = 4;
/// A thread that was paused for less of its blocks was not taken away.
const IN_FORCE_LEAST: f64 = 0.9;
/// One that was paused for less than this is not what took four fifths of the slow requests away.
const TREATED_LEAST: f64 = 0.6;
/// The state of a thread that waits for a disk, as a letter of `/proc/TID/stat`.
const AT_A_DISK: char = 'D';

/// Whether requests still end.
#[derive(Debug)]
struct Flow {
    patience: Duration,
    done: u64,
    since: Instant,
}

impl Flow {
    fn new(patience: Duration, now: Instant) -> Self {
        Self {
            patience,
            done: 0,
            since: now,
        }
    }

    /// Looks again: whether requests have been under way for too long and none of them ended.
    fn has_stopped(&mut self, now: Instant, (offered, done): (u64, u64)) -> bool {
        if done != self.done || offered <= done {
            (self.done, self.since) = (done, now);
        }
        now.duration_since(self.since) > self.patience
    }
}

/// For how long the thread stood still, of the time that it was to.
#[derive(Debug, Default)]
struct Force {
    wanted: Duration,
    given: Duration,
}

impl Force {
    /// A stretch that is over. `held` if it was held at its begin, and `stands` if it stood still at its
    /// end: one that the guardian itself released in between does not.
    fn add(&mut self, passed: Duration, held: bool, stands: bool) {
        self.wanted += passed;
        if held && stands {
            self.given += passed;
        }
    }

    fn share(&self) -> f64 {
        self.given.as_secs_f64() / self.wanted.as_secs_f64().max(1e-9)
    }
}

/// A thread that was paused, as it is otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paused {
    pub(crate) tid: u32,
    /// What share of the time it waits for a disk.
    pub(crate) at_a_disk: f64,
}

fn counts(progress: &Progress) -> (u64, u64) {
    let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    (of(&progress.offered), of(&progress.done))
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Pausing {
    pause: ThreadPause,
    control: Arc<Control>,
    flow: Flow,
    held_since: Instant,
    /// Not held before.
    not_before: Instant,
    /// In this block.
    given_up: u32,
    given_up_in_all: u32,
    /// How often the guardian released it by itself.
    let_go: u32,
    force: Force,
    looked: Instant,
    /// Looks at it in blocks in which it is not paused, and of these at how many it waited for a disk.
    free: (u32, u32),
}

impl Pausing {
    /// Of a thread; requests over `slow_ms` count as slow.
    pub(crate) fn new(pause: ThreadPause, control: Arc<Control>, slow_ms: f64) -> Self {
        let slow = Duration::from_secs_f64(PATIENCE_SLOW * slow_ms.max(0.0) / 1e3);
        let now = Instant::now();
        Self {
            pause,
            control,
            flow: Flow::new(PATIENCE_LEAST.max(slow), now),
            held_since: now,
            not_before: now,
            given_up: 0,
            given_up_in_all: 0,
            let_go: 0,
            force: Force::default(),
            looked: now,
            free: (0, 0),
        }
    }

    /// Begins or ends a stretch in which the thread is paused, or goes on with it.
    pub(crate) fn turn(
        &mut self,
        (was, on): (bool, bool),
        guardian: &Guardian,
    ) -> Result<(), InterventionError> {
        let now = Instant::now();
        let (held, stands) = (self.pause.is_held(), self.pause.stands());
        if was {
            self.force
                .add(now.duration_since(self.looked), held, stands);
        } else if let Some(state) = self.pause.state() {
            self.free.0 += 1;
            self.free.1 += u32::from(state == AT_A_DISK);
        }
        self.looked = now;
        if !on {
            self.given_up = 0;
            self.not_before = now;
            return self.pause.let_go(guardian);
        }
        if held && !stands {
            self.let_go += 1;
            self.not_before = now + BREATH;
            self.pause.let_go(guardian)
        } else if held {
            self.mind(now, guardian)
        } else if now >= self.not_before && self.given_up < GIVEN_UP_MOST {
            self.hold(now, guardian)
        } else {
            Ok(())
        }
    }

    /// Lets the thread go for a moment, in which nothing is measured.
    pub(crate) fn breathe(&mut self, guardian: &Guardian) -> Result<(), InterventionError> {
        if self.pause.is_held() {
            self.not_before = Instant::now() + BREATH;
        }
        self.pause.let_go(guardian)
    }

    fn hold(&mut self, now: Instant, guardian: &Guardian) -> Result<(), InterventionError> {
        if self.pause.hold(guardian)? {
            self.held_since = now;
            self.flow.since = now;
        }
        Ok(())
    }

    /// Lets the thread go if another thread waits for it, and now and then.
    fn mind(&mut self, now: Instant, guardian: &Guardian) -> Result<(), InterventionError> {
        let counts = counts(&self.control.progress);
        let is_missed = self.pause.is_waited_for() || self.flow.has_stopped(now, counts);
        // Pieces of blocks end before that, unless switching was late.
        let is_over = now.duration_since(self.held_since) > ThreadPause::longest();
        if is_missed {
            self.given_up += 1;
            self.given_up_in_all += 1;
        }
        if is_missed || is_over {
            self.not_before = now + BREATH;
            return self.pause.let_go(guardian);
        }
        Ok(())
    }

    /// What kept it from its full effect, so that it refutes nothing.
    pub(crate) fn shortfall(&self) -> Option<String> {
        let name = self.pause.name();
        if self.force.share() < IN_FORCE_LEAST {
            return Some(self.in_words());
        }
        self.pause.may_have_a_lock().then(|| {
            format!(
                "threads waited for a lock that names no owner while {name} was paused, and whether that has \
                 it cannot be seen"
            )
        })
    }

    /// That it was paused so little that it confirms nothing either, if so.
    pub(crate) fn hardly(&self) -> Option<String> {
        (self.force.share() < TREATED_LEAST).then(|| self.in_words())
    }

    fn in_words(&self) -> String {
        format!(
            "thread {} could be paused for {:.0} % of its blocks, was released {} times since requests waited \
             for it, and {} times by the guardian",
            self.pause.name(),
            100.0 * self.force.share(),
            self.given_up_in_all,
            self.let_go
        )
    }

    /// The thread, as it is when it is not paused.
    pub(crate) fn paused(&self) -> Option<Paused> {
        Some(Paused {
            tid: self.pause.tid()?,
            at_a_disk: f64::from(self.free.1) / f64::from(self.free.0.max(1)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(100);

    /// Whether requests have stopped at the last of the looks, each so many milliseconds after the
    /// beginning.
    fn stops(looks: &[(u64, (u64, u64))]) -> bool {
        let begin = Instant::now();
        let mut flow = Flow::new(PATIENCE, begin);
        let mut last = false;
        for (ms, counts) in looks {
            last = flow.has_stopped(begin + Duration::from_millis(*ms), *counts);
        }
        last
    }

    #[test]
    fn requests_that_go_on_have_not_stopped() {
        assert!(!stops(&[
            (0, (5, 5)),
            (90, (9, 6)),
            (180, (9, 7)),
            (270, (9, 8))
        ]));
    }

    #[test]
    fn requests_of_which_none_ends_have_stopped() {
        assert!(stops(&[(0, (9, 5)), (50, (9, 5)), (120, (12, 5))]));
    }

    #[test]
    fn where_nothing_is_asked_nothing_stops() {
        assert!(!stops(&[(0, (5, 5)), (300, (5, 5)), (900, (5, 5))]));
        // The patience begins with the first that is under way.
        assert!(!stops(&[(0, (5, 5)), (300, (5, 5)), (350, (6, 5))]));
    }

    #[test]
    fn what_the_guardian_ended_was_not_in_force() {
        let (mut force, turn) = (Force::default(), Duration::from_millis(20));
        for _ in 0..80 {
            force.add(turn, true, true);
        }
        // It goes on although it was not released here; then it is not held, and it stands again.
        force.add(turn, true, false);
        for _ in 0..19 {
            force.add(turn, false, false);
        }
        assert!((force.share() - 0.8).abs() < 1e-9, "{}", force.share());
        assert!(Force::default().share() <= 0.0);
    }
}
