//! Threads that run tasks of many requests by turns: the dispatchers of Akka, a work-stealing pool (`ForkJoinPool`, fibers, virtual
//! threads on their carriers), threads that share one `io_context` of Asio.
//!
//! A request is read by one of them and answered by another one, and what it does in between is on neither: a task that waits for
//! a reply is no thread. So they are what the workers of Go and of tokio are: when they wait for a task, their requests wait in user
//! space, and a thread that wakes one of them up need not have had what a request waits for. A thread that has a request to itself reads it
//! and answers it; a loop that hands requests to workers reads them all, and its workers read none.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::trace::{Call, Context};

use super::index::{Index, Off, Why};
use super::join::Joined;
use super::stacks::{Stacks, Waits};
use crate::attribute::without_digits;

/// Fewer requests of a process show no habit.
const REQUESTS_LEAST: usize = 20;
/// Of so many requests another thread writes the answer than the one that read it. In nine recorded runs of Akka, Pekko, Play, Helidon
/// (virtual threads) and Solon it was a tenth to three quarters; in the 63 other processes met (28 in Java, 29 native ones, 4 of Node, 2
/// of Python, with twenty requests or more each), none at all.
const HANDED_ON_LEAST: f64 = 0.05;
/// A thread that hardly ever waits for a task has work of its own. One of a pool that is too small waits for what its tasks wait for most
/// of the time.
const AT_TASKS_LEAST: f64 = 0.1;

/// The threads of such pools.
pub(super) fn task_threads<'j>(
    index: &Index<'_>,
    stacks: &Stacks,
    joined: impl Iterator<Item = &'j Joined>,
) -> BTreeSet<u32> {
    let mut by_process: BTreeMap<u32, Vec<&Joined>> = BTreeMap::new();
    for joined in joined.filter(|joined| !index.trace.parks(joined.reader)) {
        let pid = index.pid_of(joined.reader);
        by_process.entry(pid).or_default().push(joined);
    }
    let mut all = BTreeSet::new();
    for (pid, own) in by_process {
        let both = readers_that_answer(own.iter().map(|joined| (joined.reader, joined.writer)));
        let names: BTreeSet<String> = both.iter().map(|&tid| pool_name(index, tid)).collect();
        // Threads that were given no name have that of their process.
        let own_name = pool_name(index, pid);
        let is_named = |tid: u32| {
            let name = pool_name(index, tid);
            !name.is_empty() && name != own_name && names.contains(&name)
        };
        let is_one = |&tid: &u32| {
            index.pid_of(tid) == pid
                && (both.contains(&tid) || is_named(tid))
                && rests_at_tasks(index, stacks, tid)
        };
        all.extend(index.tids().filter(is_one));
    }
    all
}

/// The threads of a process that read requests and answer others, if they hand requests on to each other; none otherwise. Of each
/// request it is said which thread reads it, and which answers it.
fn readers_that_answer(requests: impl Iterator<Item = (u32, u32)> + Clone) -> BTreeSet<u32> {
    let readers: BTreeSet<u32> = requests.clone().map(|(reader, _)| reader).collect();
    let writers: BTreeSet<u32> = requests.clone().map(|(_, writer)| writer).collect();
    let both = &readers & &writers;
    let is_handed_on = |&(reader, writer): &(u32, u32)| {
        reader != writer && both.contains(&reader) && both.contains(&writer)
    };
    let all = requests.clone().count();
    let handed_on = requests.filter(is_handed_on).count();
    if all >= REQUESTS_LEAST && handed_on as f64 >= HANDED_ON_LEAST * all as f64 {
        both
    } else {
        BTreeSet::new()
    }
}

/// Whether a thread of such a pool waits for its next task: at the pool's queue, or for events of all files. One that waits for a lock
/// has a task, as far as its stack says so, and so has one that a timer wakes up: it sleeps (a virtual thread that is pinned to it).
pub(super) fn waits_for_task(stacks: &Stacks, off: &Off) -> bool {
    let facts = stacks.facts(off.stack);
    let is_lock = matches!(facts.waits, Some(Waits::Lock | Waits::Interpreter));
    let is_timed = matches!(off.context, Some(Context::Hardirq | Context::Softirq));
    let waits = match stacks.call_in(off) {
        Some(Call::Futex) => !is_lock && !is_timed,
        Some(Call::Poll) => facts.events,
        _ => false,
    };
    off.why == Why::Sleeping && waits
}

fn rests_at_tasks(index: &Index<'_>, stacks: &Stacks, tid: u32) -> bool {
    let offs = index.offs(tid, 0, u64::MAX).iter();
    let (mut at_tasks, mut all) = (0_usize, 0_usize);
    for off in offs.filter(|off| off.why == Why::Sleeping) {
        all += 1;
        at_tasks += usize::from(waits_for_task(stacks, off));
    }
    all > 0 && at_tasks as f64 >= AT_TASKS_LEAST * all as f64
}

/// What the threads of a pool are called, whatever their numbers.
fn pool_name(index: &Index<'_>, tid: u32) -> String {
    let thread = index.trace.thread(tid);
    without_digits(thread.map_or("", |thread| &thread.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(of: impl Fn(u32) -> (u32, u32)) -> Vec<u32> {
        let requests: Vec<(u32, u32)> = (0..40).map(of).collect();
        readers_that_answer(requests.into_iter())
            .into_iter()
            .collect()
    }

    #[test]
    fn threads_that_answer_what_others_have_read_take_tasks() {
        assert_eq!(pool(|at| (1 + at % 3, 1 + at / 3 % 3)), [1, 2, 3]);
    }

    #[test]
    fn a_thread_with_a_request_of_its_own_takes_no_tasks() {
        assert!(pool(|at| (at % 4, at % 4)).is_empty());
        // One of them is answered by another thread: a timeout, an error page.
        assert!(pool(|at| (at % 4, if at == 7 { 0 } else { at % 4 })).is_empty());
    }

    #[test]
    fn workers_behind_a_loop_take_no_tasks() {
        assert!(pool(|at| (1, 2 + at % 4)).is_empty());
        // The loop answers some of them itself.
        assert!(pool(|at| (1, if at % 2 == 0 { 1 } else { 2 + at % 4 })).is_empty());
    }

    #[test]
    fn a_few_requests_show_nothing() {
        let few = [(1, 2), (2, 1), (1, 1), (2, 1)];
        assert!(readers_that_answer(few.into_iter()).is_empty());
    }
}
