//! A thread that serves many connections one by one has so many requests to work for that the next ones
//! queue: each takes no longer than usual, and there are many.

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::predict::without_waits;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::loops::{behind_the_loop, busy_ns, busy_share, usual_and_long_ns};
use crate::trace::pieces::{Behalf, LeafKind};
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent};
use slowpath_attribution::StateSet;

/// Requests that come at random wait on average for `use / (1 - use)` times what one takes (M/M/1; Kleinrock,
/// Queueing Systems 1, 3.2). Below this use the line is shorter than one request and a half, and a request that meets a
/// longer one has met a burst.
const BUSY_LEAST: f64 = 0.6;
/// At least so much of the waiting is for ordinary requests of others.
const MOSTLY: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::QUEUED
        .and(StateSet::RUNNABLE)
        .and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    if looked.inside.loops.is_empty() {
        let text =
            "no thread was seen to serve connections by turns, in whose line requests could wait";
        return Verdict::Absent(text.to_owned());
    }
    let mut picked = behind_the_loop(looked);
    let n = looked.join.walked.len();
    if picked.is_empty() {
        let text =
            format!("none of {n} requests waited while the thread that reads it served others");
        return Verdict::Absent(text);
    }
    let (usual_ns, long_ns) = usual_and_long_ns(looked);
    let all_ns = sum(&picked);
    // A call that blocks the loop is what is slow, however often it is made.
    picked.retain(|p| {
        let computes = p.piece.behalf == Behalf::Other && p.piece.leaf.kind == LeafKind::Cpu;
        computes && busy_ns(looked, p) < long_ns
    });
    let in_line = sum(&picked) / all_ns;
    if in_line < MOSTLY {
        return Verdict::Absent(format!(
            "{} of what requests wait for their thread it does one thing of {} or more, waits, or serves no request",
            percent(1.0 - in_line),
            human(long_ns)
        ));
    }
    let busy = busy(looked, &picked);
    if busy < BUSY_LEAST {
        return Verdict::Absent(format!(
            "requests wait for others before them, but the thread that serves them is busy for {} of the \
             time only",
            percent(busy)
        ));
    }
    if let Some(lead) = looked.too_small(case, endpoint, &claims(&picked)) {
        return lead;
    }
    found(case, endpoint, looked, &picked, (usual_ns, busy))
}

fn sum(all: &[Picked<'_>]) -> f64 {
    all.iter().map(|p| p.piece.len_ns() as f64).sum()
}

/// How busy the threads are that requests wait for, each as long as it was waited for.
fn busy(looked: &Looked<'_>, picked: &[Picked<'_>]) -> f64 {
    let mut waited: std::collections::BTreeMap<u32, f64> = std::collections::BTreeMap::new();
    for p in picked {
        *waited.entry(p.hops[0].tid).or_default() += p.piece.len_ns() as f64;
    }
    let whole: f64 = waited.values().sum();
    let each = waited
        .iter()
        .map(|(&tid, ns)| busy_share(looked.inside, tid) * ns);
    each.sum::<f64>() / whole.max(1.0)
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    picked: &[Picked<'_>],
    (usual_ns, busy): (f64, f64),
) -> Verdict {
    let claims = claims(picked);
    let place = looked.place(endpoint, &claims);
    let threads = Looked::shares(picked, place, |p| looked.inside.thread_name(p.hops[0].tid));
    let (thread, _) = threads.first().cloned().unwrap_or_default();
    let text = format!(
        "thread {thread} is busy for {} of the time, with requests that take {} of it each; at random times \
         {:.1} of them are before a request on average (M/M/1)",
        percent(busy),
        human(usual_ns),
        busy / (1.0 - busy).max(0.01)
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests queue after others, none of which takes long: thread {thread}, which serves \
             them one by one, is busy for {} of the time; spread them over more threads, do less for each, or \
             send less",
            percent(busy)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            thread: Some(thread),
            ..Culprit::default()
        },
    })
}
