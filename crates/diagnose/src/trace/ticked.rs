//! What requests that wait for a strike of a clock were seen to wait for.

use slowpath_core::nanos::Span;
use slowpath_core::stats::median::median;
use slowpath_core::trace::{Context, NO_STACK};

use super::inside::{Inside, Walked, summed};
use super::looked::Looked;
use super::pieces::{Hop, How, LeafKind, Piece};
use crate::case::{Case, EndpointCase};
use crate::verdict::{Claim, human, percent};

/// Fewer requests that were followed show nothing.
const WAITS_LEAST: usize = 30;
/// From this share of a wait on, in the median, it is what the wait consists of.
const MOST: f64 = 0.5;
/// Fewer sleeps of a thread have no usual length.
const SLEEPS_LEAST: usize = 8;

/// What a trace says of the waits.
pub(crate) enum Word {
    /// A thread sleeps in that time: whose, and how; with where it stands.
    Sleeps(String, Vec<String>),
    /// Something else is going on.
    Other(String),
    /// Nothing.
    Silence,
}

/// What a part of a wait is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Sleep,
    Other,
    Unknown,
}

/// Asks the trace, if there is one.
pub(crate) fn word(case: &Case<'_>, endpoint: &EndpointCase, waits: &[Claim]) -> Word {
    let Ok(looked) = Looked::at(case, endpoint) else {
        return Word::Silence;
    };
    let inside = looked.inside;
    let (mut slept, mut others, mut sleepers) = (Vec::new(), Vec::new(), Vec::new());
    for walked in &looked.join.walked {
        let position = waits.binary_search_by_key(&walked.joined.sample, |wait| wait.sample);
        let Some(wait) = position.ok().map(|place| waits[place].span) else {
            continue;
        };
        let whole = wait.len_ns().max(1) as f64;
        let of = |part| sum(inside, walked, wait, part) as f64 / whole;
        slept.push(of(Part::Sleep));
        others.push(of(Part::Other));
        let asleep = walked
            .pieces
            .iter()
            .filter(|p| part(inside, p) == Part::Sleep);
        sleepers
            .extend(asleep.map(|p| ((p.leaf.tid, p.leaf.stack), p.span().overlap_ns(wait) as f64)));
    }
    let n = slept.len();
    if n < WAITS_LEAST {
        return Word::Silence;
    }
    let (slept, others) = (median(&mut slept), median(&mut others));
    if let Some(share) = others.filter(|share| *share >= MOST) {
        return Word::Other(format!(
            "for {} of that time, in the median of {n} followed requests, the server computes, waits for a \
             CPU, a lock, a disk or another server",
            percent(share)
        ));
    }
    let Some(share) = slept.filter(|share| *share >= MOST) else {
        return Word::Silence;
    };
    let tids = summed(sleepers.iter().map(|((tid, _), ns)| (*tid, *ns)));
    let who = tids.first().map_or(0, |(tid, _)| *tid);
    let stacks = sleepers
        .iter()
        .filter(|((tid, stack), _)| *tid == who && *stack != NO_STACK);
    let stacks = summed(stacks.map(|((_, stack), ns)| (*stack, *ns)));
    let stack = stacks
        .first()
        .map_or_else(Vec::new, |(stack, _)| inside.stack_words(*stack));
    let usual = usual_ns(inside, who).map_or_else(String::new, |ns| {
        format!(", as it does again and again, {} each time", human(ns))
    });
    let text = format!(
        "for {} of that time, in the median of {n} followed requests, the thread {} sleeps{usual}",
        percent(share),
        inside.thread_name(who)
    );
    Word::Sleeps(text, stack)
}

/// The share of a wait that one sleep makes, in the median of those that were followed, if it is most of it.
pub(crate) fn one_sleep(case: &Case<'_>, endpoint: &EndpointCase, waits: &[Claim]) -> Option<f64> {
    let looked = Looked::at(case, endpoint).ok()?;
    let longest = |walked: &Walked| {
        let own = waits.binary_search_by_key(&walked.joined.sample, |wait| wait.sample);
        let wait = waits[own.ok()?].span;
        let pieces = walked.pieces.iter();
        let asleep = pieces.filter(|p| part(looked.inside, p) == Part::Sleep);
        let longest = asleep.map(|p| p.span().overlap_ns(wait)).max();
        Some(longest.unwrap_or(0) as f64 / wait.len_ns().max(1) as f64)
    };
    let mut shares: Vec<f64> = looked.join.walked.iter().filter_map(longest).collect();
    if shares.len() < WAITS_LEAST {
        return None;
    }
    median(&mut shares).filter(|share| *share >= MOST)
}

fn sum(inside: &Inside<'_>, walked: &Walked, wait: Span, of: Part) -> u64 {
    let own = walked.pieces.iter().filter(|p| part(inside, p) == of);
    own.map(|p| p.span().overlap_ns(wait)).sum()
}

/// A lock whose holder sleeps is the lock's, and a reply of one who sleeps is the reply's.
fn part(inside: &Inside<'_>, piece: &Piece) -> Part {
    let hops = inside.chains.hops(piece.chain);
    let locks = |hop: &Hop| matches!(hop.how, How::Lock | How::Interpreter);
    if hops
        .iter()
        .any(|hop| hop.how == How::Sent && !inside.is_targets(hop.tid))
    {
        return Part::Other;
    }
    match piece.leaf.kind {
        LeafKind::Outside | LeafKind::Unknown(_) | LeafKind::RuntimeIdle | LeafKind::Lock => {
            Part::Unknown
        }
        LeafKind::Sleep | LeafKind::RuntimeTimer if !hops.iter().any(locks) => Part::Sleep,
        _ => Part::Other,
    }
}

/// How long a thread sleeps at a time, in the median.
fn usual_ns(inside: &Inside<'_>, tid: u32) -> Option<f64> {
    let offs = inside.index.offs(tid, 0, u64::MAX).iter();
    let timed = offs.filter(|off| off.context == Some(Context::Hardirq));
    let mut lengths: Vec<f64> = timed.map(|off| (off.end - off.begin) as f64).collect();
    (lengths.len() >= SLEEPS_LEAST).then(|| median(&mut lengths))?
}
