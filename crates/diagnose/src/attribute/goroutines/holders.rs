//! Which goroutine holds what another waits for.
//!
//! A mutex of Go knows no owner. Its holder is in a function that takes it, called from there, and does not wait for it; of
//! several such goroutines that one holds it that was found waiting for it before, or else what they all do is what is known.

use slowpath_attribution::{Holder, Reason, State};
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::{Does, NO_STACK, Stay};

use super::index::Task;
use super::stands::Facts;
use super::{Found, Goroutines};

/// A goroutine that runs has no stack; where it stood just before says where it is. Looks are 10 ms apart, and some come late.
const JUST_BEFORE_NS: u64 = 25 * MILLISECOND;
/// Functions that take a lock are examined from the innermost one outwards, so many: a program may have one of its own that does
/// nothing else.
const CALLERS_MOST: usize = 2;

/// The addresses at which goroutines wait for the same lock. In a `sync.RWMutex` those who write wait at the mutex that it has or
/// at the word after it, and those who read at the next one.
fn related(about: u64, own: &Facts) -> Vec<u64> {
    const WORDS_BYTES: [u64; 2] = [4, 8];
    let mut all = vec![about];
    if own.is_shared_lock {
        all.extend(WORDS_BYTES.map(|bytes| about.saturating_add(bytes)));
        all.extend(WORDS_BYTES.map(|bytes| about.saturating_sub(bytes)));
    }
    all
}

impl Goroutines<'_, '_> {
    /// A wait for a mutex.
    pub(super) fn lock(&self, stay: &Stay, at: u64, hops: usize) -> Found {
        let holders = self.holders(stay, at);
        // One that was found waiting for it before holds it by now.
        let waited = holders.iter().find(|other| {
            let before = self
                .index
                .before((other.pid, other.task), other.first.get());
            let own = self.index.facts(stay.stack);
            before.is_some_and(|b| stay.about != 0 && related(stay.about, &own).contains(&b.about))
        });
        let holder = match (waited, &holders[..]) {
            (Some(one), _) | (None, [one]) => self.doing(one, at, hops),
            (None, several) => self.agreed(several, at, hops),
        };
        let holder = holder.or_else(|| self.runs_with(stay, at));
        self.held(stay, State::Lock, holder)
    }

    /// A wait for one of several places.
    pub(super) fn place(&self, stay: &Stay, state: State, at: u64, hops: usize) -> Found {
        let holders = self.holders(stay, at);
        let holder = self.most(&holders, at, hops);
        self.held(stay, state, holder.or_else(|| self.runs_with(stay, at)))
    }

    /// What another request has asked for already: what the goroutine waits for that runs the shared call.
    pub(super) fn shared(&self, stay: &Stay, at: u64, hops: usize) -> Option<Found> {
        let holders = self.holders(stay, at);
        let (found, task) = self.most(&holders, at, hops)?;
        let holder = self.whose(stay, task);
        // What it waits for with a reply is that reply; with anything else it is as if it had a lock.
        let state = if found.state == State::Reply {
            State::Reply
        } else {
            State::Lock
        };
        Some(Found {
            state,
            holder,
            ..found
        })
    }

    /// Goroutines that stand in the function from which one waits, and do not wait for the same.
    fn holders(&self, stay: &Stay, at: u64) -> Vec<&Stay> {
        let own = self.index.facts(stay.stack);
        let first = own.own.unwrap_or(own.frames.len());
        let callers = own.frames.iter().skip(first).take(CALLERS_MOST);
        let takes = own.takes.map(|place| own.frames[place]);
        let mut frames: Vec<u32> = takes.into_iter().chain(callers.copied()).collect();
        // Other functions that take the same lock come before the caller's caller.
        if stay.about != 0 {
            let others = related(stay.about, &own).into_iter();
            let others = others.flat_map(|about| self.index.callers(stay.pid, about).to_vec());
            let mut others: Vec<u32> = others.collect();
            others.sort_unstable();
            others.dedup();
            let at = frames.len().min(1);
            frames.splice(at..at, others);
        }
        for frame in frames {
            let found = self.index.standing_in(stay.pid, frame, at);
            let has = |other: &&Stay| !self.waits_alike(stay, other, &own);
            let found: Vec<&Stay> = found.into_iter().filter(has).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Whether a goroutine waits for what another one waits for, or is that one.
    fn waits_alike(&self, stay: &Stay, other: &Stay, own: &Facts) -> bool {
        let facts = self.index.facts(other.stack);
        let is_same = stay.about != 0 && related(stay.about, own).contains(&other.about);
        let is_any = stay.about == 0 || other.about == 0;
        let is_lock = own.waits_for_lock(stay.does) && facts.waits_for_lock(other.does);
        let is_queued = other.does.is_parked() && other.does != Does::Data;
        let is_at_door = is_queued && own.door.is_some() && facts.door == own.door;
        other.task == stay.task || is_same || is_lock && is_any || is_at_door
    }

    /// What a goroutine does that has something, and which one it is.
    fn doing(&self, stay: &Stay, at: u64, hops: usize) -> Option<(Found, Task)> {
        let found = self.found(stay, at, hops + 1)?;
        Some((found, (stay.pid, stay.task)))
    }

    /// What several do, if they all do the same.
    fn agreed(&self, several: &[&Stay], at: u64, hops: usize) -> Option<(Found, Task)> {
        let mut all = several.iter().filter_map(|stay| self.doing(stay, at, hops));
        let first = all.next()?;
        all.all(|other| other.0.activity == first.0.activity)
            .then_some(first)
    }

    /// What most of several do.
    fn most(&self, several: &[&Stay], at: u64, hops: usize) -> Option<(Found, Task)> {
        let all: Vec<(Found, Task)> = several
            .iter()
            .filter_map(|stay| self.doing(stay, at, hops))
            .collect();
        let alike = |state: State| all.iter().filter(|other| other.0.activity == state).count();
        let most = all.iter().max_by_key(|own| alike(own.0.activity))?;
        Some(most.clone())
    }

    /// A goroutine that runs and has been waiting for the same, or was in the function that takes it, just before.
    fn runs_with(&self, stay: &Stay, at: u64) -> Option<(Found, Task)> {
        let running = self.index.running(stay.pid, at);
        let had = running.into_iter().find(|other| {
            let task = (other.pid, other.task);
            let before = self.index.before(task, other.first.get());
            let before = before.filter(|b| b.last.get() + JUST_BEFORE_NS >= other.first.get());
            before.is_some_and(|before| {
                let alike = stay.about != 0 && before.about == stay.about;
                other.task != stay.task && (alike || self.is_inside(stay, before))
            })
        })?;
        let found = Found::of(State::OnCpu, Holder::Background, had.stack);
        Some((found, (had.pid, had.task)))
    }

    /// Whether a goroutine stands in the function from which another one waits.
    fn is_inside(&self, stay: &Stay, other: &Stay) -> bool {
        let own = self.index.facts(stay.stack);
        let Some(frame) = own.own.map(|place| own.frames[place]) else {
            return false;
        };
        let function = super::stands::name(self.index.trace, frame);
        let frames = &self.index.facts(other.stack).frames;
        let mut names = frames
            .iter()
            .map(|&f| super::stands::name(self.index.trace, f));
        names.any(|name| name == function)
    }

    /// A wait for what another one has.
    fn held(&self, stay: &Stay, state: State, holder: Option<(Found, Task)>) -> Found {
        let Some((found, task)) = holder else {
            return Found {
                activity: State::Unknown(Reason::Holder),
                ..Found::of(state, Holder::Unknown, stay.stack)
            };
        };
        Found {
            state,
            holder: self.whose(stay, task),
            stack: if found.stack == NO_STACK {
                stay.stack
            } else {
                found.stack
            },
            ..found
        }
    }

    /// Whose goroutine it is.
    fn whose(&self, stay: &Stay, task: Task) -> Holder {
        if task.1 == stay.task {
            Holder::ThisRequest
        } else if self.index.serves(task) {
            Holder::AnotherRequest
        } else {
            Holder::Background
        }
    }
}
