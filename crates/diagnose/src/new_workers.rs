//! First requests of processes that began under load: a worker that takes the place of another loads and compiles its
//! program when it is asked for the first time.

use std::collections::BTreeSet;

use slowpath_core::nanos::{SECOND, Span};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::new_helpers;
use crate::predict::without_claims;
use crate::trace::inside::Inside;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human};

/// Processes that serve in the first second of the trace, or are older than those, were there before.
const BEFORE_NS: u64 = SECOND;
/// What serves in this last share of the time serves at the end.
const AT_THE_END: f64 = 0.25;
/// Fewer new processes are no habit of the server.
const WORKERS_LEAST: usize = 10;
/// At least this share of the slow requests are first ones, and of the first ones slow: where others are slow as well it is
/// something else, and workers that are ready when they begin cost nothing.
const MOST: f64 = 0.5;

/// Whether slow requests wait for processes that are new, that read them or that others hand them to.
pub(crate) fn found(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    match NewWorkers::of(case, endpoint) {
        Some(new) => Some(new.found(case, endpoint)),
        None => new_helpers::found(case, endpoint),
    }
}

/// The slow requests of an endpoint that are the first of a process.
struct NewWorkers {
    /// Their positions in the record, ascending.
    slow: Vec<u32>,
    /// Of so many slow requests that were joined with a process.
    of: usize,
    /// Processes that began under load and served.
    workers: usize,
}

impl NewWorkers {
    /// Finds them; `None` without a trace, or if they are not most of what is slow.
    fn of(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Self> {
        let inside = case.inside()?;
        let firsts = firsts(inside);
        let is_slow = |sample: &u32| endpoint.split.slow.binary_search(sample).is_ok();
        let joined = &inside.of_endpoint(endpoint).joined;
        let own: Vec<u32> = joined
            .iter()
            .map(|joined| joined.sample)
            .filter(|sample| firsts.contains(sample))
            .collect();
        let of = joined
            .iter()
            .filter(|joined| is_slow(&joined.sample))
            .count();
        let slow: Vec<u32> = own
            .iter()
            .copied()
            .filter(|sample| is_slow(sample))
            .collect();
        let is_most = |part: usize, of: usize| part as f64 >= MOST * of.max(1) as f64;
        let found = slow.len() >= WORKERS_LEAST
            && is_most(slow.len(), of)
            && is_most(slow.len(), own.len());
        found.then_some(Self {
            slow,
            of,
            workers: firsts.len(),
        })
    }

    /// The verdict.
    fn found(&self, case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
        let usual = endpoint.split.fast_ns.unwrap_or(0);
        let claim = |&i: &u32| {
            let sample = case.sample(i);
            let begin = sample.sent().unwrap_or(sample.ready()).plus(usual);
            Claim {
                sample: i,
                span: Span::new(begin.min(sample.done()), sample.done()),
            }
        };
        let claims: Vec<Claim> = self.slow.iter().map(claim).collect();
        let sum: u64 = claims.iter().map(|claim| claim.span.len_ns()).sum();
        let each = sum as f64 / claims.len().max(1) as f64;
        let text = format!(
            "{} of {} slow requests that were traced are the first of their process; {} processes that served began \
             under load",
            self.slow.len(),
            self.of,
            self.workers
        );
        Verdict::Found(Found {
            place: Place::Tail,
            prediction: without_claims(case, endpoint, Place::Tail, &claims),
            amount: Amount::Claims(claims),
            grade: Grade::Supported,
            summary: format!(
                "the first request of each new process of the server takes {} longer; let workers live longer, or load \
                 the program before they are forked",
                human(each)
            ),
            evidence: vec![evidence(Source::Trace, "trace", text)],
            culprit: Culprit::default(),
        })
    }
}

/// A request with the process that served it, in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Served {
    read: u64,
    pid: u32,
    sample: u32,
}

/// The first requests of processes that began under load.
fn firsts(inside: &Inside<'_>) -> BTreeSet<u32> {
    let joined = inside
        .endpoints
        .iter()
        .flat_map(|endpoint| &endpoint.joined);
    let served = joined.filter_map(|joined| {
        Some(Served {
            read: joined.part(Phase::Service).0,
            pid: inside.trace().process_of(joined.reader)?.pid,
            sample: joined.sample,
        })
    });
    of_new(served.collect())
}

/// The first of each process that is younger than those that serve at the beginning, if these are replaced: most of them serve no
/// more at the end. A server that forks more workers as it needs them keeps the first ones.
fn of_new(mut all: Vec<Served>) -> BTreeSet<u32> {
    all.sort_unstable();
    let (Some(first), Some(last)) = (all.first(), all.last()) else {
        return BTreeSet::new();
    };
    let late = last.read - ((last.read - first.read) as f64 * AT_THE_END) as u64;
    let until = first.read + BEFORE_NS;
    let (before, after) = all.split_at(all.partition_point(|one| one.read < until));
    let pids = |all: &[Served]| -> BTreeSet<u32> { all.iter().map(|one| one.pid).collect() };
    let at_first = pids(before);
    let at_the_end = pids(&all[all.partition_point(|one| one.read < late)..]);
    if 2 * at_first.intersection(&at_the_end).count() >= at_first.len() {
        return BTreeSet::new();
    }
    let youngest = at_first.last().copied().unwrap_or(u32::MAX);
    let mut seen = BTreeSet::new();
    let new = after.iter().filter(|one| one.pid > youngest);
    new.filter(|one| seen.insert(one.pid))
        .map(|one| one.sample)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_request_of_each_process_that_began_later_counts() {
        let served = |sample: u32, pid| Served {
            read: 1 + u64::from(sample) * SECOND / 4,
            pid,
            sample,
        };
        // 10 and 12 are there at the beginning, 11 is as old and idle until then.
        let pids = [10, 12, 10, 12, 10, 11, 13, 13, 12, 14, 13, 14];
        let all = (0..)
            .zip(pids)
            .map(|(sample, pid)| served(sample, pid))
            .collect();
        assert_eq!(of_new(all), BTreeSet::from([6, 9]));
        assert!(of_new(Vec::new()).is_empty());
        // More are forked, and the first ones serve on.
        let pids = [10, 12, 10, 12, 10, 11, 13, 13, 12, 10, 12, 14];
        let all = (0..)
            .zip(pids)
            .map(|(sample, pid)| served(sample, pid))
            .collect();
        assert!(of_new(all).is_empty());
    }
}
