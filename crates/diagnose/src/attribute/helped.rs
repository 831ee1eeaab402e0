//! Waits in user space that end when a thread which serves no requests has done what it was woken up or started for: a runtime that parks
//! hands work to its blocking threads, and is woken up by them.

use std::collections::BTreeMap;

use slowpath_attribution::{Actor, Basis, Holder, Path, Slice, State};
use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::trace::NO_STACK;

use super::classify::without_digits;
use super::overlay;
use super::released::{Habit, OVER_CHANCE, enders, is_open, open};
use super::woken::WAITS_LEAST;
use crate::trace::index::{Off, State as Doing};
use crate::trace::inside::Inside;

/// What a thread did that serves no requests, from when one that does woke it up or started it until it woke up one.
#[derive(Clone, Copy, Debug)]
struct Job {
    tid: u32,
    span: (u64, u64),
}

/// A wait that a job ends.
struct Wait {
    /// The position of its path.
    path: usize,
    span: (u64, u64),
    job: Job,
}

/// Lays what such threads compute over what the trace leaves open.
pub(super) fn lay_over(inside: &Inside<'_>, paths: &mut [Path], actors: &mut Vec<Actor>) {
    if paths.iter().all(|path| open(path).is_empty()) {
        return;
    }
    let jobs = jobs(inside);
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
        let samples = inside.index.samples(job.tid, job.span.0, job.span.1);
        let stack = samples.last().map_or(NO_STACK, |(_, stack)| *stack);
        let actor = *known.entry((job.tid, stack)).or_insert_with(|| {
            actors.push(worker(inside, job.tid, stack));
            actors.len() as u32 - 1
        });
        let begin = span.0.max(job.span.0);
        let span = Span::new(Nanos::new(begin), Nanos::new(span.1));
        overlay(&mut paths[path].slices, &[span], |slice| {
            is_open(slice).then_some(Slice {
                state: State::OnCpu,
                holder: Holder::ThisRequest,
                activity: State::OnCpu,
                actor,
                basis: Basis::Traced,
                ..*slice
            })
        });
    }
}

fn worker(inside: &Inside<'_>, tid: u32, stack: u32) -> Actor {
    Actor {
        process: inside.process_name(tid).to_owned(),
        thread: without_digits(&inside.thread_name(tid)),
        peer: String::new(),
        stack: if stack == NO_STACK {
            Vec::new()
        } else {
            inside.stack_words(stack)
        },
    }
}

/// Whether a thread runs for most of its job.
fn computes(inside: &Inside<'_>, job: Job) -> bool {
    let (begin, end) = job.span;
    let slices = inside.index.slices(job.tid, begin, end);
    let runs = slices.iter().filter(|slice| slice.state == Doing::Run);
    2 * runs.map(|slice| slice.end - slice.begin).sum::<u64>() > end - begin
}

/// The jobs of threads that serve no requests, in order of their ends.
fn jobs(inside: &Inside<'_>) -> Vec<Job> {
    let serving = inside.serving().all();
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
            let job = before.map(|place| Job {
                tid: by,
                span: (begins[place], end),
            });
            jobs.extend(job.filter(|job| computes(inside, *job)));
        }
    }
    jobs.sort_unstable_by_key(|job| job.span.1);
    jobs
}
