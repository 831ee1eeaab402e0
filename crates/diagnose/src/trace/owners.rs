//! Locks whose owner can be read, where it is not known which thread woke which (without privilege).
//!
//! Who read which request is not known then. What is known is who was found waiting for whose lock
//! at many instants, and what that owner was found in. Requests that are under way at that time
//! are said to wait for it, if slow requests lie in such time much more than others do.

use std::collections::HashMap;

use slowpath_core::nanos::{Nanos, Span};
use slowpath_core::stats::period::period;
use slowpath_core::trace::Call;

use super::index::{Index, Peek, State, Why};
use super::inside::{Inside, summed};
use super::looked::REMEDY;
use super::pieces::{Leaf, LeafKind};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::host_cpu::HostCpu;
use crate::overlap::{claims_of, coverage, merged, share_of};
use crate::predict::without_claims;
use crate::verdict::{Amount, Found, Verdict, evidence, human, ms, percent};

/// Fewer findings of a thread that waits for a lock name no holder.
const FOUND_LEAST: usize = 30;
/// From this share of its findings on an owner waits itself, and for so little it does not.
const WAITS: (f64, f64) = (0.8, 0.2);
/// Slow requests must spend so many times the share of their time in which the lock is kept that
/// chance would give them.
const ENRICHED: f64 = 1.5;
/// If it is kept for more of the time than this, chance has no room left, and nothing is known.
const MOSTLY: f64 = 0.5;
/// Findings further apart than this say nothing of the time in between: four readings at 100 Hz.
const APART_NS: u64 = 40_000_000;

/// With fewer CPUs idle than this share of the host …
const IDLE_LEAST: f64 = 0.1;
/// … and more occupied by others, a thread that was let in waits for a CPU as well: a quarter is half
/// of one CPU of two.
const OTHERS_MOST: f64 = 0.25;

/// A thread was found waiting for a lock, and its owner in a call.
struct Finding {
    at: u64,
    waiter: u32,
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
    // Whatever other locks there are: the one that most waits are for.
    let owners = summed(findings.iter().map(|f| (inside.thread_name(f.owner), 1.0)));
    let (owner, count) = owners.into_iter().next()?;
    let own = |f: &&Finding| inside.thread_name(f.owner) == owner;
    if count < FOUND_LEAST as f64 {
        return None;
    }
    let calls = summed(findings.iter().filter(own).map(|f| (f.call, 1.0)));
    let mut waiting = calls
        .iter()
        .filter_map(|(call, n)| Some(((*call)?, waits_in((*call)?)?, *n)));
    let of_waits: f64 = waiting.clone().map(|(.., n)| n).sum();
    let Some((call, kind, _)) = waiting.next().filter(|_| of_waits >= WAITS.1 * count) else {
        return Some(Verdict::Absent(format!(
            "the owner of the lock that is waited for ({owner}) was found waiting itself in \
             {of_waits} of {count} findings"
        )));
    };
    let spans = spans(&inside.index, &findings, |f| own(&f));
    let tail = endpoint.tail.as_ref();
    let requests = tail.map_or(&endpoint.completed, |tail| &tail.requests);
    let (covered, in_slow) = (coverage(case, &spans), share_of(case, requests, &spans));
    let is_chance = in_slow < ENRICHED * covered;
    if is_chance && covered < MOSTLY {
        return Some(Verdict::Absent(format!(
            "{owner} keeps a lock for {} of the time, and slow requests spend {} of theirs in \
             that: no more than by chance",
            percent(covered),
            percent(in_slow)
        )));
    }
    let kept = format!(
        "the lock that {owner} has for {} of the time",
        percent(covered)
    );
    let doubt = if is_chance || of_waits < WAITS.0 * count {
        let seen = format!("it was found waiting itself in {of_waits} of {count} findings");
        Some(format!("whether requests wait for {kept}: {seen}"))
    } else {
        crowded(case).map(|others| {
            format!(
                "whether requests wait for {kept}, or were let in and wait for a CPU: others have \
                 {others} of them"
            )
        })
    };
    if let Some(missing) = doubt {
        return Some(lead(case, endpoint, &spans, missing));
    }
    let facts = Facts {
        owner: &owner,
        agree: count / findings.len() as f64,
        findings: findings.len(),
        kind,
        call,
        in_slow,
        covered,
    };
    Some(found(case, endpoint, inside, &spans, &facts))
}

fn lead(case: &Case<'_>, endpoint: &EndpointCase, spans: &[Span], missing: String) -> Verdict {
    let claims = claims_of(case, endpoint, spans);
    Verdict::Lead {
        place: endpoint.place_of(&claims),
        claims,
        missing,
        remedy: REMEDY.to_owned(),
    }
}

/// What share of the CPUs others have, if it leaves next to none idle: who was woken is not known
/// here, so that a thread that waits for a CPU seems to wait for what it waited for before.
fn crowded(case: &Case<'_>) -> Option<String> {
    let host = HostCpu::within(case, &case.windows)?;
    let others = host.others + host.steal;
    (host.idle < IDLE_LEAST && others > OTHERS_MOST).then(|| percent(others))
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
        prediction: without_claims(case, endpoint, endpoint.place_of(&claims), &claims),
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
        // Who never runs serves no requests: no thread waits for it.
        if !ran(index, tid) {
            continue;
        }
        for peek in index.peeks(tid, 0, u64::MAX) {
            if peek.call == Call::Futex && peek.owner != 0 && peek.owner != tid {
                all.push(Finding {
                    at: peek.at,
                    waiter: tid,
                    owner: peek.owner,
                    call: found_in(index, peek),
                });
            }
        }
    }
    all.sort_by_key(|finding| finding.at);
    all
}

/// Whether a thread was seen running at all.
fn ran(index: &Index<'_>, tid: u32) -> bool {
    let slices = index.slices(tid, 0, u64::MAX);
    slices.iter().any(|slice| slice.state == State::Run)
}

/// The call in which the owner of a lock was found at about the same time; `None` if it ran, or
/// was not sampled.
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

/// The times in which a lock is found kept.
///
/// Who was found waiting has waited since it left its CPU, and waits until it runs again: halfway
/// to what else it was found waiting for in that time, and no longer than [`APART_NS`] from where
/// it was found. Where it is not known when threads run, it is half the time between two readings.
fn spans(index: &Index<'_>, findings: &[Finding], of: impl Fn(&Finding) -> bool) -> Vec<Span> {
    let half = between_readings(findings) / 2;
    let own = findings.iter().filter(|f| of(f));
    merged(own.map(|f| around(index, f, half)).collect())
}

/// The time for which a finding speaks.
fn around(index: &Index<'_>, finding: &Finding, half: u64) -> Span {
    let (at, waiter) = (finding.at, finding.waiter);
    let span = |begin: u64, end: u64| Span::new(Nanos::new(begin.max(1)), Nanos::new(end));
    let off = index.offs(waiter, at, at.saturating_add(1)).first();
    let Some(off) = off.filter(|off| !matches!(off.why, Why::Unknown | Why::Gone)) else {
        return span(at.saturating_sub(half), at.saturating_add(half));
    };
    let from = off.begin.max(at.saturating_sub(APART_NS));
    let to = off.end.min(at.saturating_add(APART_NS));
    let before = index.peeks(waiter, from, at).last();
    let after = index.peeks(waiter, at.saturating_add(1), to).first();
    span(
        before.map_or(from, |peek| peek.at.midpoint(at)),
        after.map_or(to, |peek| peek.at.midpoint(at)),
    )
}

/// How long after a thread was found waiting for a lock it is sampled again, in the median. Of
/// one thread: all that wait are found within the same reading.
fn between_readings(findings: &[Finding]) -> u64 {
    let mut last: HashMap<u32, u64> = HashMap::new();
    let mut gaps: Vec<u64> = findings
        .iter()
        .filter_map(|f| Some(f.at - last.insert(f.waiter, f.at)?))
        .filter(|&gap| gap > 0 && gap <= APART_NS)
        .collect();
    gaps.sort_unstable();
    gaps.get(gaps.len() / 2).copied().unwrap_or(0)
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
