//! Waits in user space that end when a thread which serves no requests has done what it was woken up or started for: a runtime that parks
//! hands work to its blocking threads, and is woken up by them.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Basis, Holder, Path, Slice, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::{Call, Context, NO_STACK};

use super::classify::{does_mostly, without_digits};
use super::overlay;
use super::released::{Habit, OVER_CHANCE, enders, is_open, open};
use super::woken::WAITS_LEAST;
use crate::case::Case;
use crate::trace::index::{Off, State as Doing};
use crate::trace::inside::Inside;
use crate::trace::stacks::Waits;

/// What a thread did that serves no requests, from when one that does woke it up or started it until it woke up one.
#[derive(Clone, Copy, Debug)]
struct Job {
    tid: u32,
    span: (u64, u64),
    does: Does,
}

/// What a thread does for most of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Does {
    state: State,
    /// What it does, or the thread that it waits for.
    activity: State,
    stack: u32,
    /// The connection on which that one waits for a reply.
    asks_on: Option<u32>,
}

/// A wait that a job ends.
struct Wait {
    /// The position of its path.
    path: usize,
    span: (u64, u64),
    job: Job,
}

/// Lays what such threads do over what the trace leaves open: they compute, sleep, or wait for a lock. What they ask is a call of the
/// request.
pub(super) fn lay_over(
    (case, inside): (&Case<'_>, &Inside<'_>),
    paths: &mut [Path],
    actors: &mut Vec<Actor>,
) {
    if paths.iter().all(|path| open(path).is_empty()) {
        return;
    }
    let jobs = jobs(case, inside);
    let spans: Vec<(u64, u64)> = jobs.iter().map(|job| job.span).collect();
    let mut habit = Habit::default();
    let mut waits: Vec<Wait> = Vec::new();
    for (place, path) in paths.iter().enumerate() {
        for span in open(path) {
            let ended = |at: u64| enders(&spans, (span.0, at)).next();
            habit.add(span, ended);
            waits.extend(ended(span.1).map(|job| Wait {
                path: place,
                span,
                job: jobs[job],
            }));
        }
    }
    if !habit.is_one_of(WAITS_LEAST, OVER_CHANCE) {
        return;
    }
    let mut known = BTreeMap::new();
    for Wait { path, span, job } in waits {
        let actor = *known.entry((job.tid, job.does)).or_insert_with(|| {
            actors.push(worker(inside, job.tid, job.does));
            actors.len() as u32 - 1
        });
        let begin = span.0.max(job.span.0);
        let span = Span::new(Nanos::new(begin), Nanos::new(span.1));
        overlay(&mut paths[path].slices, &[span], |slice| {
            is_open(slice).then_some(Slice {
                state: job.does.state,
                holder: match job.does.state {
                    State::Lock => Holder::Background,
                    _ => Holder::ThisRequest,
                },
                activity: job.does.activity,
                actor,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}

fn worker(inside: &Inside<'_>, tid: u32, does: Does) -> Actor {
    let peer = does.asks_on.and_then(|socket| inside.other_end(socket));
    Actor {
        process: inside.process_name(tid).to_owned(),
        thread: without_digits(&inside.thread_name(tid)),
        peer: peer.unwrap_or_default(),
        stack: if does.stack == NO_STACK {
            Vec::new()
        } else {
            inside.stack_words(does.stack)
        },
    }
}

/// What a thread does for most of a time, if it computes, sleeps or waits for a lock.
fn does(case: &Case<'_>, inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> Option<Does> {
    let asks = inside.calls(case).in_call(tid, begin.midpoint(end));
    let sleeps = || 2 * timed_ns(inside, tid, (begin, end)) > end - begin;
    let mostly = does_mostly(inside, tid, (begin, end));
    let mostly = mostly.or_else(|| sleeps().then_some(State::Sleep));
    // What waits for a reply with a timeout is a call of the request.
    let is_call = mostly == Some(State::Sleep) && asks.is_some();
    if let Some(state) = mostly.filter(|_| !is_call) {
        let samples = inside.index.samples(tid, begin, end);
        return Some(Does {
            state,
            activity: state,
            stack: samples.last().map_or(NO_STACK, |(_, stack)| *stack),
            asks_on: None,
        });
    }
    let slices = inside.index.slices(tid, begin, end);
    let locked = slices.iter().filter_map(|slice| match slice.state {
        Doing::Blocked(off) => {
            let is_lock = inside.stacks.facts(off.stack).waits == Some(Waits::Lock);
            is_lock.then_some((off, slice.end - slice.begin))
        }
        _ => None,
    });
    let (off, longest_ns) = locked.max_by_key(|(_, ns)| *ns)?;
    if 2 * longest_ns <= end - begin {
        return None;
    }
    let by = holder(inside, off)?;
    let asks = inside
        .calls(case)
        .in_call(by, off.begin.midpoint(off.ready_from()));
    let activity = match asks {
        Some(_) => Some(State::Reply),
        None => does_mostly(inside, by, (off.begin, off.ready_from())),
    };
    Some(Does {
        state: State::Lock,
        activity: activity.unwrap_or(State::Lock),
        stack: off.stack,
        asks_on: asks.map(|call| call.socket),
    })
}

/// For how long a thread waits at a futex until a time comes: `Thread.sleep` of Java.
fn timed_ns(inside: &Inside<'_>, tid: u32, (begin, end): (u64, u64)) -> u64 {
    let slices = inside.index.slices(tid, begin, end);
    let timed = slices.iter().filter(|slice| match slice.state {
        Doing::Blocked(off) => {
            // Who waits for a monitor of Java looks for it now and then.
            let is_lock = inside.stacks.facts(off.stack).waits == Some(Waits::Lock);
            !is_lock && off.call == Some(Call::Futex) && off.context == Some(Context::Hardirq)
        }
        _ => false,
    });
    timed.map(|slice| slice.end - slice.begin).sum()
}

/// The thread that keeps another one waiting for a lock: who wakes that one up may have waited for the lock itself.
fn holder(inside: &Inside<'_>, waits: &Off) -> Option<u32> {
    /// A lock's queue is rarely longer.
    const QUEUED_MOST: usize = 8;
    let at = waits.begin.midpoint(waits.ready_from());
    let mut by = waits.woken_by()?;
    for _ in 0..QUEUED_MOST {
        let offs = inside.index.offs(by, at, at.saturating_add(1));
        let is_lock = |off: &&Off| inside.stacks.facts(off.stack).waits == Some(Waits::Lock);
        let Some(next) = offs.first().filter(is_lock).and_then(Off::woken_by) else {
            break;
        };
        by = next;
    }
    Some(by)
}

/// The jobs of threads that serve no requests, in order of their ends.
fn jobs(case: &Case<'_>, inside: &Inside<'_>) -> Vec<Job> {
    let serving = &inside.serving().all() | &inside.index.task_threads;
    let index = &inside.index;
    let mut jobs = Vec::new();
    let mut begins: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for &tid in &serving {
        for off in index.offs(tid, 0, u64::MAX) {
            let by = off.woken_by().filter(|by| !serving.contains(by));
            let Some((by, end)) = by.filter(|&by| inside.is_targets(by)).zip(off.woken_at()) else {
                continue;
            };
            let begins = begins.entry(by).or_insert_with(|| {
                let offs = index.offs(by, 0, u64::MAX).iter();
                let by_serving =
                    offs.filter(|off| off.woken_by().is_some_and(|by| serving.contains(&by)));
                by_serving.map(Off::ready_from).collect()
            });
            let before = begins.partition_point(|&at| at <= end).checked_sub(1);
            let job = before.and_then(|place| {
                let span = (begins[place], end);
                let does = does(case, inside, by, span)?;
                Some(Job {
                    tid: by,
                    span,
                    does,
                })
            });
            jobs.extend(job);
        }
    }
    jobs.sort_unstable_by_key(|job| job.span.1);
    jobs
}
