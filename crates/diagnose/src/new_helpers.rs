//! Requests that wait for a process of the target which has only just begun: a pool of processes that replaces each after so many jobs
//! (`maxtasksperchild`, `max_tasks_per_child`) hands a job to the new one, which loads its program first.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::nanos::{SECOND, Span};

use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::lives::births;
use crate::overlap::merged;
use crate::predict::without_claims;
use crate::trace::inside::{Inside, Walked};
use crate::trace::pieces::Piece;
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human};

/// A process that has answered nothing for so long after it began is no worker that loads its program.
const LOADS_MOST_NS: u64 = 5 * SECOND;
/// Fewer new processes are no habit of the server.
const HELPERS_LEAST: usize = 5;
/// Each of them goes on to work for so many requests that came after its first answer, in the median: a command that runs once is no
/// worker, however many requests wait for it.
const JOBS_LEAST: usize = 3;
/// Of requests that are not slow so few meet a new one: where all do, that is how it is done.
const OTHERS_MOST: f64 = 0.1;
/// Of slow ones so many do.
const SLOW_LEAST: f64 = 0.3;

/// What is found of an endpoint's slow requests, if so many of them wait for new processes.
pub(crate) fn found(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let inside = case.inside()?;
    let load = case.record.manifest.repeats.first()?.load.begin.get();
    let born = births(case);
    let mut workers = workers(inside);
    workers.retain(|pid, worker| {
        let born = born.get(pid).copied().filter(|&born| born > load);
        born.is_some_and(|born| (born..=born + LOADS_MOST_NS).contains(&worker.first_ns))
    });
    let walked = &inside.of_endpoint(endpoint).walked;
    let (mut claims, mut helpers) = (Vec::new(), BTreeSet::new());
    let (mut met, mut all) = ([0_usize; 2], [0_usize; 2]);
    for walked in walked {
        let waits = waits(inside, &workers, walked);
        all[usize::from(walked.slow)] += 1;
        met[usize::from(walked.slow)] += usize::from(!waits.is_empty());
        if walked.slow {
            helpers.extend(waits.iter().map(|(pid, _)| *pid));
            let spans = merged(waits.into_iter().map(|(_, span)| span).collect());
            let sample = walked.joined.sample;
            claims.extend(spans.into_iter().map(|span| Claim { sample, span }));
        }
    }
    let share = |at: usize| met[at] as f64 / all[at].max(1) as f64;
    let mut counts: Vec<usize> = helpers
        .iter()
        .map(|pid| workers.get(pid).map_or(0, Worker::later))
        .collect();
    counts.sort_unstable();
    let are_workers = counts
        .get(counts.len() / 2)
        .is_some_and(|&n| n >= JOBS_LEAST);
    if helpers.len() < HELPERS_LEAST
        || !are_workers
        || share(0) > OTHERS_MOST
        || share(1) < SLOW_LEAST
    {
        return None;
    }
    let sum: u64 = claims.iter().map(|claim| claim.span.len_ns()).sum();
    let each = human(sum as f64 / met[1].max(1) as f64);
    let text = format!(
        "{} of {} followed slow requests wait for a process of the target that has just begun, and {} of {} others; {} such \
         processes go on to work for {} requests each in the median",
        met[1],
        all[1],
        met[0],
        all[0],
        helpers.len(),
        counts[counts.len() / 2]
    );
    Some(Verdict::Found(Found {
        place: Place::Tail,
        prediction: without_claims(case, endpoint, Place::Tail, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests are handed to a worker process that has just begun, and wait {each} until it has loaded its program; \
             let workers live longer, or load the program before they are forked"
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit::default(),
    }))
}

/// A process of the target that works for requests which others read.
struct Worker {
    /// From when to when each of them was served.
    served: Vec<(u64, u64)>,
    /// When the first of them was answered.
    first_ns: u64,
}

impl Worker {
    /// How many requests came after the first answer.
    fn later(&self) -> usize {
        let later = self.served.iter().filter(|served| served.0 > self.first_ns);
        later.count()
    }
}

/// When a request waits for a process that has begun, and has answered none.
fn waits(
    inside: &Inside<'_>,
    workers: &BTreeMap<u32, Worker>,
    walked: &Walked,
) -> Vec<(u32, Span)> {
    let pieces = walked
        .pieces
        .iter()
        .filter(|piece| piece.segment == Phase::Service);
    let new = pieces.filter_map(|piece| {
        let is_loading = |pid: &u32| {
            let worker = workers.get(pid);
            worker.is_some_and(|worker| piece.begin < worker.first_ns)
        };
        let pid = helpers(inside, walked, piece).find(is_loading)?;
        Some((pid, piece.span()))
    });
    new.collect()
}

/// The processes of the target that a request waits for in a piece, but for the one that reads it.
fn helpers<'a>(
    inside: &'a Inside<'_>,
    walked: &Walked,
    piece: &Piece,
) -> impl Iterator<Item = u32> + 'a {
    let own = inside.index.pid_of(walked.joined.reader);
    let hops = inside.chains.hops(piece.chain).into_iter();
    let tids = hops
        .map(|hop| hop.tid)
        .filter(|&tid| inside.is_targets(tid));
    let pids = tids.map(|tid| inside.index.pid_of(tid));
    pids.filter(move |&pid| pid != own)
}

/// The processes of the target that work for requests which others read.
fn workers(inside: &Inside<'_>) -> BTreeMap<u32, Worker> {
    let mut served: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    let walked = inside
        .endpoints
        .iter()
        .flat_map(|endpoint| &endpoint.walked);
    for walked in walked {
        let pieces = walked.pieces.iter();
        let own: BTreeSet<u32> = pieces
            .flat_map(|piece| helpers(inside, walked, piece))
            .collect();
        for pid in own {
            served
                .entry(pid)
                .or_default()
                .push(walked.joined.part(Phase::Service));
        }
    }
    let worker = |(pid, served): (u32, Vec<(u64, u64)>)| {
        let first_ns = served.iter().map(|served| served.1).min()?;
        Some((pid, Worker { served, first_ns }))
    };
    served.into_iter().filter_map(worker).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_goes_on_after_its_first_answer() {
        let worker = |served: &[(u64, u64)]| Worker {
            served: served.to_vec(),
            first_ns: served.iter().map(|served| served.1).min().unwrap(),
        };
        // Two wait until it has loaded its program, and three come later.
        let pool = worker(&[(10, 100), (40, 101), (102, 110), (120, 130), (140, 150)]);
        assert_eq!(pool.later(), 3);
        // All wait for one command, which is over then.
        assert_eq!(worker(&[(10, 100), (40, 101), (60, 101)]).later(), 0);
    }
}
