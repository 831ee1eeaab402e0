//! So many threads or processes serve one request each, and all of them have one: the next requests
//! have arrived, and are not read.

use slowpath_attribution::StateSet;
use std::collections::BTreeSet;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Phase, Place, Source};
use crate::predict::without_waits;
use crate::throttling::cpus;
use crate::trace::inside::{Inside, Walked, summed};
use crate::trace::looked::{Looked, does};
use crate::trace::loops::are_mostly_long;
use crate::trace::pieces::{How, LeafKind, Piece};
use crate::trace::pool::{Pool, are_handed_on, handed_to};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, percent};

/// From this share of the CPUs on that the target may use, they are what is short: more threads
/// would wait for them.
const CPUS_SHORT: f64 = 0.8;
/// Threads that wait for each other for this share of the time that they serve requests are
/// kept by what they share: more of them would wait as well.
const EACH_OTHER: f64 = 0.5;

/// From this share of what makes requests slow on a line before those that requests are handed to would be the
/// cause, and not something beside another.
const HANDED_LEAST: f64 = 0.5;

/// See the module. More users than threads make all of them wait, by design: such floors rank last.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::QUEUED.and(StateSet::LOCK).and(StateSet::UNKNOWN),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let pool = Pool::of(looked.inside);
    if pool.is_empty() {
        let text = "no thread was seen to serve one request after the other";
        let cleared = || Verdict::Absent(text.to_owned());
        return behind_others(endpoint, looked).unwrap_or_else(cleared);
    }
    let full = times_full(looked, &pool);
    if full.is_empty() {
        return behind_others(endpoint, looked).unwrap_or_else(|| nobody_waits(looked, &pool));
    }
    let claims: Vec<Claim> = full.iter().map(claim).collect();
    if let Some(text) = otherwise(case, looked, &pool, &full) {
        return Verdict::Absent(text);
    }
    if let Some(lead) = looked.too_small(case, endpoint, &claims) {
        return lead;
    }
    let place = looked.place(endpoint, &claims);
    // A worker or a loop, the only thread that serves has no time for others, and either name says so.
    let is_kept = pool.len() == 1 && are_mostly_long(looked, &claims);
    if pool.may_be_loops(looked.inside) && !is_kept {
        return Verdict::Lead {
            place,
            claims,
            missing:
                "whether what serves takes one connection after the other, or has several at a \
                      time (an event loop): each request came on a connection of its own"
                    .to_owned(),
            remedy: "measure with connections that are used again (connection = \"pool\")"
                .to_owned(),
        };
    }
    found(case, endpoint, looked, &pool, (place, claims, full))
}

/// While all threads had others' requests, this one had arrived: its position, from when, until when.
type Waited = (u32, u64, u64);

fn claim(&(sample, begin, end): &Waited) -> Claim {
    Claim::between(sample, (begin, end))
}

/// When requests had arrived, were not read, and all threads had others. The thread that read it then must
/// have been one of those.
fn times_full(looked: &Looked<'_>, pool: &Pool) -> Vec<Waited> {
    let mut times = Vec::new();
    for walked in &looked.join.walked {
        let joined = &walked.joined;
        let (begin, end) = joined.part(Phase::Unread);
        if end > begin && pool.was_busy(joined.reader, begin, end) {
            let full = pool.full(begin, end).into_iter();
            times.extend(full.map(|(begin, end)| (joined.sample, begin, end)));
        }
    }
    times
}

/// That requests wait for threads of the target that they were handed to, or whose words they wait for: whether
/// those were busy with others is not seen.
fn behind_others(endpoint: &EndpointCase, looked: &Looked<'_>) -> Option<Verdict> {
    let (claims, name) = handed_to(looked.inside, &looked.join.walked)?;
    let place = endpoint.place_of(&claims);
    let share = endpoint.share_at_most(place, &claims)?;
    (share >= HANDED_LEAST).then(|| Verdict::Lead {
        place,
        claims,
        missing: format!(
            "whether those had others: requests wait for threads called {name}, to which the target hands them"
        ),
        remedy: "let the target report it in spans (telemetry)".to_owned(),
    })
}

fn nobody_waits(looked: &Looked<'_>, pool: &Pool) -> Verdict {
    if are_handed_on(&looked.join.walked) {
        return Verdict::Blind {
            missing: "whether a thread was free: whoever reads requests hands them on to others, \
                      and for how long they wait in between is kept in user space"
                .to_owned(),
            remedy: "let the target report it in spans (telemetry)".to_owned(),
        };
    }
    let n = looked.join.walked.len();
    Verdict::Absent(format!(
        "none of {n} requests waited to be read while all {} threads that serve had others",
        pool.len()
    ))
}

/// What else keeps the threads, so that more of them would be no help.
fn otherwise(case: &Case<'_>, looked: &Looked<'_>, pool: &Pool, full: &[Waited]) -> Option<String> {
    let times: Vec<(u64, u64)> = full.iter().map(|&(_, begin, end)| (begin, end)).collect();
    let computing = pool.computing(&looked.inside.index, &times);
    let may = cpus(case).unwrap_or(f64::INFINITY);
    if computing >= CPUS_SHORT * may {
        return Some(format!(
            "all {} threads that serve are busy while requests wait, and so are the CPUs: \
             {computing:.1} of them compute or are ready to, on {may:.0}",
            pool.len()
        ));
    }
    let (mut all, mut each_other) = (0.0, 0.0);
    for (_, piece, ns) in served(looked.inside, pool) {
        all += ns;
        let hops = looked.inside.chains.hops(piece.chain);
        let others = hops.iter().skip(1);
        let waits = |how: How| !matches!(how, How::Sent | How::Ended);
        if others.clone().any(|hop| {
            matches!(hop.how, How::Lock | How::Interpreter) || pool.has(hop.tid) && waits(hop.how)
        }) {
            each_other += ns;
        }
    }
    let share = each_other / all.max(1.0);
    (share >= EACH_OTHER).then(|| {
        format!(
            "all {} threads that serve are busy while requests wait, but for {} of that time they \
             wait for a lock or for each other",
            pool.len(),
            percent(share)
        )
    })
}

/// What the threads did for requests of all endpoints: whose, what, and for how many nanoseconds.
fn served<'c>(
    inside: &'c Inside<'_>,
    pool: &'c Pool,
) -> impl Iterator<Item = (usize, &'c Piece, f64)> {
    let endpoints = inside.endpoints.iter().enumerate();
    endpoints.flat_map(move |(number, join)| {
        let walked = join.walked.iter();
        let own = walked.filter(|w: &&Walked| pool.has(w.joined.reader));
        own.flat_map(move |walked| {
            let pieces = walked.pieces.iter();
            let pieces = pieces.filter(|piece| piece.segment == Phase::Service);
            pieces.map(move |p| (number, p, p.len_ns() as f64 * join.weight(walked)))
        })
    })
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    pool: &Pool,
    (place, claims, full): (Place, Vec<Claim>, Vec<Waited>),
) -> Verdict {
    let inside = looked.inside;
    let unread: u64 = looked
        .join
        .walked
        .iter()
        .map(|w| w.joined.part_ns(Phase::Unread))
        .sum();
    let waited: u64 = full.iter().map(|(_, begin, end)| end - begin).sum();
    let times: Vec<(u64, u64)> = full.iter().map(|&(_, begin, end)| (begin, end)).collect();
    let n = pool.len();
    let kind = if pool.are_processes(&inside.index) {
        "processes"
    } else {
        "threads"
    };
    let many = if n == 1 {
        "the one thread that serves has".to_owned()
    } else {
        format!("all {n} {kind} that serve have")
    };
    let by_endpoint = summed(served(inside, pool).map(|(number, _, ns)| (number, ns)));
    let whole: f64 = by_endpoint.iter().map(|(_, ns)| ns).sum();
    let most = by_endpoint.first();
    let most = most.map_or_else(String::new, |&(number, ns)| {
        let name = case.endpoints.get(number).map_or("", |e| e.name.as_str());
        format!(
            "{} of that time it is {name}'s",
            percent(ns / whole.max(1.0))
        )
    });
    let what = summed(served(inside, pool).map(|(_, piece, ns)| (kept_by(piece), ns)));
    let what = what
        .first()
        .map_or("does what was not recorded", |(what, _)| *what);
    let requests = claims
        .iter()
        .map(|claim| claim.sample)
        .collect::<BTreeSet<u32>>();
    let text = format!(
        "{} requests had arrived and were not read while {many} another one to serve: {} of the time in \
         which requests were not read; {:.1} CPUs were used or wanted by these in that time",
        requests.len(),
        percent(waited as f64 / unread.max(1) as f64),
        pool.computing(&inside.index, &times)
    );
    let each_ns = waited as f64 / requests.len().max(1) as f64;
    let thread = pool.tids().next().map(|tid| inside.thread_name(tid));
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "{many} a request to serve, and the next ones wait until one is free, for {} on average; a \
             request keeps its thread while it {what} ({most}); raise their number, or let requests \
             keep them for less{}",
            human(each_ns),
            if pool.may_be_loops(inside) {
                OR_A_LOOP
            } else {
                ""
            }
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            thread,
            ..Culprit::default()
        },
    })
}

/// What is said where it is not seen whether a thread has several connections at once.
const OR_A_LOOP: &str = "; or it is event-loop-blocking: each request came on a connection of its own, so that it is not \
                         seen whether the thread has several at once";

/// What a thread does while it serves a request, completing "while it …".
fn kept_by(piece: &Piece) -> &'static str {
    match piece.leaf.kind {
        LeafKind::Lock => "waits for a lock or a condition",
        _ => does(&piece.leaf),
    }
}
