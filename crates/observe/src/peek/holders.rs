//! Who holds a lock that does not know its owner, inferred from the thread that runs when it is released. Pure.
//!
//! Most locks are a word that says no more than that a thread waits (Drepper, "Futexes are
//! tricky", 2011, mutex 2; so do Rust's standard library and the internal locks of glibc). Who
//! waits for one gets a CPU right after the holder has released it, so the holder was running just
//! then. Others may have been as well: a thread is named only if it was running at nearly all
//! releases that ended a long hold, runs seldom otherwise, and is the only such one.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::Nanos;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::beta::clopper_pearson;
use slowpath_core::trace::{Call, Event, What};

/// From a release to the waiter's first instant on a CPU: some 50 µs on an idle one, and rarely
/// more than this unless all are busy.
const NEAR_NS: u64 = MILLISECOND;
/// Holds that are looked into: shorter ones are handed on within a convoy, and the next in it runs
/// as near as the one before.
const LONG_NS: u64 = 2 * MILLISECOND;
/// As many holds as the ledger wants episodes before it names a cause.
const LEAST_HOLDS: usize = 6;
/// Share of the long holds at whose end the holder must have been running.
const SHARE: f64 = 0.8;
/// By how much that share's lower bound must exceed the share of all time in which a release
/// would have been near by chance.
const TIMES_CHANCE: f64 = 2.0;

/// A lock: the process and the address of its word.
pub(super) type Lock = (u32, u64);

/// When a thread ran, in order; the last may go on.
type Runs = Vec<(Nanos, Nanos)>;

/// A thread waited from the first to the second instant, and was sampled in between: the
/// positions of the looks.
#[derive(Debug)]
struct Wait {
    tid: u32,
    end: Nanos,
    looks: Vec<usize>,
}

/// The time from one release to the next, and who was near at its end.
#[derive(Debug)]
struct Hold {
    looks: Vec<usize>,
    near: BTreeSet<u32>,
}

/// Names the owners of `locks` in the looks among `events` that have none, and puts beside each
/// what the owner waits in, where that is known. `events` are in order of time and stay so;
/// `process_of` gives a thread's process.
pub(super) fn name(
    events: &mut Vec<Event>,
    locks: &BTreeSet<Lock>,
    process_of: &dyn Fn(u32) -> u32,
) {
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return;
    };
    let (begin, length_ns) = (first.at, last.at.since(first.at));
    let runs = runs(events);
    let mut owners: Vec<(usize, u32)> = Vec::new();
    for (lock, waits) in waits(events, locks, process_of) {
        let waiting = waiting(&waits, events);
        let of_process = |tid: u32| process_of(tid) == lock.0;
        let holds = holds(&waits, begin, events, |end, looks, tid| {
            near(&runs, end)
                .filter(|other| *other != tid && of_process(*other))
                .filter(|other| !looks.iter().any(|look| waiting.contains(&(*look, *other))))
                .collect()
        });
        if let Some(holder) = holder(&holds, &runs, length_ns) {
            let of_holder = holds.iter().filter(|hold| hold.near.contains(&holder));
            owners.extend(of_holder.flat_map(|h| h.looks.iter().map(|look| (*look, holder))));
        }
    }
    for (look, holder) in &owners {
        if let What::Peek { owner, .. } = &mut events[*look].what {
            *owner = *holder;
        }
    }
    owners.sort_unstable();
    let beside = beside(events, &owners);
    events.extend(beside);
    events.sort_by_key(|event| event.at);
}

/// What the owners wait in at the looks that name them: a look at a thread holds until it runs.
fn beside(events: &[Event], owners: &[(usize, u32)]) -> Vec<Event> {
    let mut beside = Vec::new();
    let mut last: BTreeMap<u32, Event> = BTreeMap::new();
    let mut owners = owners.iter().peekable();
    for (place, event) in events.iter().enumerate() {
        match event.what {
            What::On { tid } => {
                last.remove(&tid);
            }
            What::Peek { tid, .. } => {
                last.insert(tid, *event);
            }
            _ => {}
        }
        while let Some((_, owner)) = owners.next_if(|(look, _)| *look == place) {
            if let Some(known) = last.get_mut(owner).filter(|known| known.at < event.at) {
                known.at = event.at;
                beside.push(*known);
            }
        }
    }
    beside
}

fn runs(events: &[Event]) -> BTreeMap<u32, Runs> {
    let mut runs: BTreeMap<u32, Runs> = BTreeMap::new();
    let mut since: BTreeMap<u32, Nanos> = BTreeMap::new();
    for event in events {
        match event.what {
            What::On { tid } => {
                since.insert(tid, event.at);
            }
            What::Off { tid, .. } => {
                if let Some(begin) = since.remove(&tid) {
                    runs.entry(tid).or_default().push((begin, event.at));
                }
            }
            _ => {}
        }
    }
    runs
}

/// The waits for each lock that ended while it was recorded.
fn waits(
    events: &[Event],
    locks: &BTreeSet<Lock>,
    process_of: &dyn Fn(u32) -> u32,
) -> BTreeMap<Lock, Vec<Wait>> {
    let mut waits: BTreeMap<Lock, Vec<Wait>> = BTreeMap::new();
    let mut looks: BTreeMap<u32, (Lock, Vec<usize>)> = BTreeMap::new();
    for (place, event) in events.iter().enumerate() {
        match event.what {
            What::Peek {
                tid,
                call: Call::Futex,
                about,
                owner: 0,
            } => {
                let lock = (process_of(tid), about);
                if locks.contains(&lock) {
                    let (of, looks) = looks.entry(tid).or_insert_with(|| (lock, Vec::new()));
                    if *of != lock {
                        (*of, *looks) = (lock, Vec::new());
                    }
                    looks.push(place);
                }
            }
            What::On { tid } => {
                if let Some((lock, looks)) = looks.remove(&tid) {
                    waits.entry(lock).or_default().push(Wait {
                        tid,
                        end: event.at,
                        looks,
                    });
                }
            }
            What::Off { tid, .. } => {
                looks.remove(&tid);
            }
            _ => {}
        }
    }
    waits
}

/// Who was waiting for the lock at which look at any of its waiters: looks of one sweep are one
/// instant.
fn waiting(waits: &[Wait], events: &[Event]) -> BTreeSet<(usize, u32)> {
    let mut at: BTreeMap<Nanos, Vec<usize>> = BTreeMap::new();
    for look in waits.iter().flat_map(|wait| &wait.looks) {
        at.entry(events[*look].at).or_default().push(*look);
    }
    let mut waiting = BTreeSet::new();
    for wait in waits {
        for look in &wait.looks {
            let together = &at[&events[*look].at];
            waiting.extend(together.iter().map(|other| (*other, wait.tid)));
        }
    }
    waiting
}

/// The long holds of a lock.
fn holds(
    waits: &[Wait],
    begin: Nanos,
    events: &[Event],
    near: impl Fn(Nanos, &[usize], u32) -> BTreeSet<u32>,
) -> Vec<Hold> {
    let mut ends: Vec<(Nanos, u32)> = waits.iter().map(|wait| (wait.end, wait.tid)).collect();
    ends.sort_unstable();
    let mut looks: Vec<usize> = waits.iter().flat_map(|wait| wait.looks.clone()).collect();
    looks.sort_unstable();
    let mut since = begin;
    let mut holds = Vec::new();
    for (end, tid) in ends {
        let first = looks.partition_point(|look| events[*look].at < since);
        let behind = looks.partition_point(|look| events[*look].at < end);
        let looks = &looks[first..behind.max(first)];
        if end.since(since) >= LONG_NS && !looks.is_empty() {
            holds.push(Hold {
                near: near(end, looks, tid),
                looks: looks.to_vec(),
            });
        }
        since = end;
    }
    holds
}

/// Threads that were running at `end` or shortly before.
fn near(runs: &BTreeMap<u32, Runs>, end: Nanos) -> impl Iterator<Item = u32> {
    runs.iter().filter_map(move |(tid, runs)| {
        let behind = runs.partition_point(|(begin, _)| *begin < end);
        let (_, left) = runs.get(behind.checked_sub(1)?)?;
        (left.plus(NEAR_NS) >= end).then_some(*tid)
    })
}

/// The one thread that nearly all holds end beside, if there is one.
fn holder(holds: &[Hold], runs: &BTreeMap<u32, Runs>, length_ns: u64) -> Option<u32> {
    if holds.len() < LEAST_HOLDS {
        return None;
    }
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for tid in holds.iter().flat_map(|hold| &hold.near) {
        *counts.entry(*tid).or_default() += 1;
    }
    let mut fit = counts.into_iter().filter(|(tid, count)| {
        let (low, _) = clopper_pearson(*count as u64, holds.len() as u64);
        let chance = near_ns(&runs[tid]) as f64 / length_ns.max(1) as f64;
        *count as f64 >= SHARE * holds.len() as f64 && low > TIMES_CHANCE * chance
    });
    let (tid, _) = fit.next()?;
    fit.next().is_none().then_some(tid)
}

/// In how much time a release would find a thread near.
fn near_ns(runs: &Runs) -> u64 {
    let mut covered_until = Nanos::new(1);
    let mut sum_ns = 0;
    for (begin, end) in runs {
        let end = end.plus(NEAR_NS);
        sum_ns += end.since(covered_until.max(*begin));
        covered_until = covered_until.max(end);
    }
    sum_ns
}

#[cfg(test)]
#[path = "holders_tests.rs"]
mod tests;
