//! Goroutines that serve requests which none of them reads: a program that polls its connections itself hands what it has read to a
//! goroutine of a pool.
//!
//! Such a goroutine is in the program's own functions from one look to the next while it serves a request, and stands elsewhere, or is
//! not there, before and after. A request is taken to be served by the one that is at work when it is, and only then.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::Does;

use super::index::{Index, Task};
use super::stands::Facts;
use crate::diagnosis::Phase;
use crate::trace::inside::Inside;

/// Looks are 10 ms apart, and some come late: so long after a request came its goroutine is found at work first, and so long before its
/// answer last.
const SEEN_WITHIN_NS: u64 = 25 * MILLISECOND;

/// From when to when a goroutine was found in the program's own functions.
#[derive(Clone, Copy, Debug)]
struct Job {
    task: Task,
    first: u64,
    last: u64,
}

/// A request that none of them reads.
struct Unread {
    sample: u32,
    pid: u32,
    service: (u64, u64),
}

/// A request that a job may be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    /// For how long of the request the job was not seen.
    rest_ns: u64,
    sample: u32,
    job: usize,
}

/// The goroutines that serve requests which none of them reads, by request.
pub(super) fn servers(inside: &Inside<'_>, index: &Index<'_>) -> BTreeMap<u32, Task> {
    let joined = inside
        .endpoints
        .iter()
        .flat_map(|endpoint| &endpoint.joined);
    let unread = joined.filter_map(|joined| {
        let service = joined.part(Phase::Service);
        let is_unread = index.server(joined.socket, service).is_none();
        is_unread.then(|| Unread {
            sample: joined.sample,
            pid: inside.index.pid_of(joined.reader),
            service,
        })
    });
    let unread: Vec<Unread> = unread.collect();
    if unread.is_empty() {
        return BTreeMap::new();
    }
    let jobs = jobs(index);
    let mut matches: Vec<Match> = Vec::new();
    for request in unread {
        let (begin, end) = request.service;
        let from = jobs.partition_point(|job| job.first < begin);
        let near = jobs[from..]
            .iter()
            .take_while(|job| job.first < begin.saturating_add(SEEN_WITHIN_NS));
        for (place, job) in near.enumerate() {
            let is_most = 2 * (job.last - job.first) > end - begin;
            let is_over = job.last <= end && job.last.saturating_add(SEEN_WITHIN_NS) >= end;
            if job.task.0 == request.pid && is_most && is_over {
                matches.push(Match {
                    rest_ns: (end - begin) - (job.last - job.first),
                    sample: request.sample,
                    job: from + place,
                });
            }
        }
    }
    // Each serves one request at a time: those that fit best come first.
    matches.sort_unstable();
    let (mut servers, mut taken) = (BTreeMap::new(), BTreeSet::new());
    for found in matches {
        if !servers.contains_key(&found.sample) && taken.insert(found.job) {
            servers.insert(found.sample, jobs[found.job].task);
        }
    }
    servers
}

/// What goroutines that read no connection do in the program's own functions, in order of its begin.
fn jobs(index: &Index<'_>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (task, stays) in index.tasks() {
        if index.serves(task) {
            continue;
        }
        let mut open: Option<Job> = None;
        for stay in stays {
            let runs = matches!(stay.does, Does::Runs | Does::Ready);
            let at_work = is_at_work(&index.facts(stay.stack));
            let (first, last) = (stay.first.get(), stay.last.get());
            match &mut open {
                Some(job) if runs || at_work => job.last = last,
                Some(_) => jobs.extend(open.take()),
                None if at_work => open = Some(Job { task, first, last }),
                None => {}
            }
        }
        jobs.extend(open);
    }
    jobs.sort_unstable_by_key(|job| job.first);
    jobs
}

/// Whether a goroutine is at work: one that waits in the function that it began with waits for its next job.
fn is_at_work(facts: &Facts) -> bool {
    /// That function, and the one of the runtime in which goroutines begin and end.
    const FIRST: usize = 2;
    facts
        .own
        .is_some_and(|own| own + FIRST < facts.frames.len())
}
