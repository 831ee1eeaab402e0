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
/// Each of them works for so many requests, in the median: one that begins for a single request is no worker.
const JOBS_LEAST: usize = 3;
/// Of requests that are not slow so few meet a new one: where all do, that is how it is done.
const OTHERS_MOST: f64 = 0.1;
/// Of slow ones so many do.
const SLOW_LEAST: f64 = 0.3;

/// What is found of an endpoint's slow requests, if so many of them wait for new processes.
pub(crate) fn found(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let inside = case.inside()?;
    let load = case.record.manifest.repeats.first()?.load.begin.get();
    let jobs = jobs(inside);
    let mut loading = births(case);
    loading.retain(|pid, born| {
        let first = jobs.get(pid).map_or(0, |jobs| jobs.first_ns);
        *born > load && first > *born && first - *born <= LOADS_MOST_NS
    });
    let walked = &inside.of_endpoint(endpoint).walked;
    let (mut claims, mut helpers) = (Vec::new(), BTreeSet::new());
    let (mut met, mut all) = ([0_usize; 2], [0_usize; 2]);
    for walked in walked {
        let waits = waits(inside, &loading, &jobs, walked);
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
        .map(|pid| jobs.get(pid).map_or(0, |jobs| jobs.requests.len()))
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
         processes work for {} requests each in the median",
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

/// What a process of the target works for, of requests that others read.
#[derive(Default)]
struct Jobs {
    requests: BTreeSet<u32>,
    /// When the first of them was answered.
    first_ns: u64,
}

/// When a request waits for a process that has begun, and has answered none.
fn waits(
    inside: &Inside<'_>,
    loading: &BTreeMap<u32, u64>,
    jobs: &BTreeMap<u32, Jobs>,
    walked: &Walked,
) -> Vec<(u32, Span)> {
    let pieces = walked
        .pieces
        .iter()
        .filter(|piece| piece.segment == Phase::Service);
    let new = pieces.filter_map(|piece| {
        let is_loading = |pid: &u32| {
            loading.contains_key(pid)
                && jobs
                    .get(pid)
                    .is_some_and(|jobs| piece.begin < jobs.first_ns)
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

/// What each process of the target was seen to work for.
fn jobs(inside: &Inside<'_>) -> BTreeMap<u32, Jobs> {
    let mut all: BTreeMap<u32, Jobs> = BTreeMap::new();
    let walked = inside
        .endpoints
        .iter()
        .flat_map(|endpoint| &endpoint.walked);
    for walked in walked {
        let end = walked.joined.part(Phase::Service).1;
        for pid in walked
            .pieces
            .iter()
            .flat_map(|piece| helpers(inside, walked, piece))
        {
            let jobs = all.entry(pid).or_default();
            jobs.requests.insert(walked.joined.sample);
            jobs.first_ns = match jobs.first_ns {
                0 => end,
                first => first.min(end),
            };
        }
    }
    all
}
