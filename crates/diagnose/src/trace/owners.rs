//! Locks whose owner can be read, where who woke whom is not known (without privilege).
//!
//! Who read which request is not known then. What is known is who was found waiting for whose lock
//! at many instants, and what that owner was found in. Requests that are under way at that time
//! are said to wait for it, if slow requests lie in such time much more than others do.

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::stats::period::period;
use slowpath_core::trace::Call;

use super::index::{Index, Peek, State};
use super::inside::{Inside, summed};
use super::pieces::{Leaf, LeafKind};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::overlap::{claims_of, coverage, merged, share_of};
use crate::predict::without_claims;
use crate::verdict::{Amount, Found, Verdict, evidence, human, ms, percent};

/// Fewer findings of a thread that waits for a lock name nobody.
const FOUND_LEAST: usize = 30;
/// So many of them must agree on the owner.
const AGREE: f64 = 0.8;
/// Slow requests must spend so many times the share of their time in which the lock is kept that
/// chance would give them …
const ENRICHED: f64 = 1.5;
/// … unless it is kept for most of the time, when chance has no room left.
const MOSTLY: f64 = 0.5;
/// Findings further apart than this say nothing of the time in between: four readings at 100 Hz.
const APART_NS: u64 = 40_000_000;

/// A thread was found waiting for a lock, and its owner in a call.
struct Finding {
    at: u64,
    owner: u32,
    call: Option<Call>,
}

/// What owners of locks that can be read say of an endpoint; `None` if none was read.
pub(crate) fn held_over_io(case: &Case<'_>, endpoint: &EndpointCase) -> Option<Verdict> {
    let inside = case.inside()?;
    let findings = findings(&inside.index);
    if findings.len() < FOUND_LEAST {
        return None;
    }
    let owners = summed(findings.iter().map(|f| (inside.thread_name(f.owner), 1.0)));
    let (owner, count) = owners.into_iter().next()?;
    let agree = count / findings.len() as f64;
    let own = |f: &&Finding| inside.thread_name(f.owner) == owner;
    let calls = summed(findings.iter().filter(own).map(|f| (f.call, 1.0)));
    let (call, of_call) = calls.into_iter().next()?;
    let waits = call.and_then(waits_in);
    if agree < AGREE {
        return Some(Verdict::Cleared(format!(
            "{} findings of a wait for a lock do not agree on its owner: {owner} has {}",
            findings.len(),
            percent(agree)
        )));
    }
    let Some(kind) = waits.filter(|_| of_call >= AGREE * count) else {
        return Some(Verdict::Cleared(format!(
            "the owner of the lock that is waited for ({owner}) was not found waiting itself"
        )));
    };
    let spans = spans(&findings, |f| inside.thread_name(f.owner) == owner);
    let tail = endpoint.tail.as_ref();
    let requests = tail.map_or(&endpoint.completed, |tail| &tail.requests);
    let (covered, in_slow) = (coverage(case, &spans), share_of(case, requests, &spans));
    if covered < MOSTLY && in_slow < ENRICHED * covered {
        return Some(Verdict::Cleared(format!(
            "{owner} keeps a lock for {} of the time, and slow requests spend {} of theirs in \
             that: no more than by chance",
            percent(covered),
            percent(in_slow)
        )));
    }
    let facts = Facts {
        owner: &owner,
        agree,
        findings: findings.len(),
        kind,
        call: call.unwrap_or(Call::Other),
        in_slow,
        covered,
    };
    Some(found(case, endpoint, inside, &spans, &facts))
}

struct Facts<'f> {
    owner: &'f str,
    agree: f64,
    findings: usize,
    kind: LeafKind,
    call: Call,
    in_slow: f64,
    covered: f64,
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    inside: &Inside<'_>,
    spans: &[Span],
    facts: &Facts<'_>,
) -> Verdict {
    let claims = claims_of(case, endpoint, spans);
    let ends: Vec<u64> = spans.iter().map(|span| span.end.get()).collect();
    let every = period(&ends);
    let leaf = Leaf {
        kind: facts.kind,
        call: Some(facts.call),
        ..Leaf::OUTSIDE
    };
    let does = super::looked::does(&leaf);
    let again = every.map_or_else(String::new, |p| format!(", every {}", human(p.period_ns)));
    let text = format!(
        "in {} findings of a thread that waits for a lock, {} have {} as its owner, which was \
         found {} then",
        facts.findings,
        percent(facts.agree),
        facts.owner,
        facts.call.describe()
    );
    let overlap = format!(
        "the lock was so kept for {} of the time, and for {} of the slow requests' time",
        percent(facts.covered),
        percent(facts.in_slow)
    );
    let threads = inside.trace().threads.len();
    Verdict::Found(Found {
        place: endpoint.place_of(&claims),
        prediction: without_claims(case, endpoint, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait for a lock that thread {} has while it {does}{again}; let go of the \
             lock before waiting",
            facts.owner
        ),
        evidence: vec![
            evidence(Source::Proc, "trace", text),
            evidence(
                Source::Proc,
                "trace",
                format!("{overlap} ({threads} threads were looked at)"),
            ),
        ],
        culprit: Culprit {
            thread: Some(facts.owner.to_owned()),
            period_ms: every.map(|p| ms(p.period_ns)),
            ..Culprit::default()
        },
    })
}

/// Every finding of a wait for a lock whose owner could be read.
fn findings(index: &Index<'_>) -> Vec<Finding> {
    let mut all = Vec::new();
    for tid in index.tids() {
        for peek in index.peeks(tid, 0, u64::MAX) {
            if peek.call == Call::Futex && peek.owner != 0 && peek.owner != tid {
                all.push(Finding {
                    at: peek.at,
                    owner: peek.owner,
                    call: found_in(index, peek),
                });
            }
        }
    }
    all.sort_by_key(|finding| finding.at);
    all
}

/// The call in which the owner of a lock was found at about the same time; `None` if it ran, or
/// was not looked at.
fn found_in(index: &Index<'_>, peek: &Peek) -> Option<Call> {
    let slices = index.slices(peek.owner, peek.at, peek.at.saturating_add(1));
    if slices.iter().any(|s| s.state == State::Run) {
        return None;
    }
    let (from, to) = (
        peek.at.saturating_sub(APART_NS),
        peek.at.saturating_add(APART_NS),
    );
    let near = index.peeks(peek.owner, from, to).iter();
    let nearest = near.min_by_key(|other| other.at.abs_diff(peek.at));
    nearest.map(|other| other.call)
}

/// The times in which a lock is found kept: from one finding to the next, if these are near, and
/// half a reading on either side.
fn spans(findings: &[Finding], of: impl Fn(&Finding) -> bool) -> Vec<Span> {
    let mut gaps: Vec<u64> = findings
        .windows(2)
        .map(|pair| pair[1].at - pair[0].at)
        .filter(|&gap| gap > 0 && gap <= APART_NS)
        .collect();
    gaps.sort_unstable();
    let half = gaps.get(gaps.len() / 2).map_or(0, |gap| gap / 2);
    let own = findings.iter().filter(|f| of(f));
    let around = own.map(|f| {
        let begin = Nanos::new(f.at.saturating_sub(half).max(1));
        Span::new(begin, Nanos::new(f.at.saturating_add(half)))
    });
    merged(around.collect())
}

/// What a thread that is found in a call waits for, if it is something outside of its process.
const fn waits_in(call: Call) -> Option<LeafKind> {
    Some(match call {
        Call::Sleep => LeafKind::Sleep,
        Call::Sync => LeafKind::Disk,
        Call::Connect => LeafKind::Network,
        Call::Poll | Call::Read | Call::Write => LeafKind::Data,
        Call::Wait => LeafKind::Child,
        Call::Futex | Call::Accept | Call::FileLock | Call::Other => return None,
    })
}
