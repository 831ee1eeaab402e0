//! A thread that serves many connections in turn is kept from a request by something long that it
//! does for another, or for nobody.

use slowpath_core::nanos::MILLISECOND;
use slowpath_core::stats::median::median;
use slowpath_core::trace::NO_STACK;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Segment, Source};
use crate::predict::without_waits;
use crate::trace::inside::Walked;
use crate::trace::loops::Loops;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::pieces::{Behalf, LeafKind, Piece};
use crate::trace::own_code::own_frame;
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent};

/// What keeps a loop busy is long if it takes so many times what the loop needs for a request …
const TIMES_USUAL: f64 = 5.0;
/// … and at least this: what is shorter is a queue of small requests, however many there are.
const LONG_LEAST_NS: f64 = MILLISECOND as f64;
/// From this share of the time on, it is long ones that requests wait for, and not a queue of
/// short ones.
const MOSTLY_LONG: f64 = 0.5;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Endpoint(examine),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase) -> Verdict {
    let looked = match Looked::at(case, endpoint) {
        Ok(looked) => looked,
        Err(blind) => return *blind,
    };
    let loops = Loops::of(&looked);
    if loops.is_empty() {
        let text = "no thread serves several connections in turn: there is no event loop";
        return Verdict::Cleared(text.to_owned());
    }
    // A loop that could run, and is kept from it, keeps nobody waiting by what it does.
    let picked = looked.pick(|walked, piece, hops| {
        piece.behalf != Behalf::Own
            && !matches!(piece.leaf.kind, LeafKind::Ready(_))
            && matches!(piece.segment, Segment::Unread | Segment::Service)
            && !matches!(piece.leaf.kind, LeafKind::RuntimeIdle | LeafKind::Unknown(_))
            && hops.first().is_some_and(|hop| hop.tid == walked.joined.reader)
            && loops.serves(walked.joined.reader, walked.joined.socket)
    });
    if picked.is_empty() {
        let n = looked.join.walked.len();
        let text = format!("none of {n} requests waited while its event loop did something else");
        return Verdict::Cleared(text);
    }
    let usual_ns = usual_ns(&looked.join.walked);
    let long_ns = LONG_LEAST_NS.max(TIMES_USUAL * usual_ns);
    let lengths: Vec<f64> = picked.iter().map(|p| Loops::busy_ns(&looked, p)).collect();
    let pairs = || picked.iter().zip(&lengths);
    let sum = |all: &mut dyn Iterator<Item = &Picked<'_>>| -> f64 {
        all.map(|p| p.piece.len_ns() as f64).sum()
    };
    let all_ns = sum(&mut picked.iter());
    let long = sum(&mut pairs().filter(|(_, l)| **l >= long_ns).map(|(p, _)| p));
    let claims = claims(&picked);
    if long < MOSTLY_LONG * all_ns {
        return Verdict::Cleared(format!(
            "requests wait for their event loop, but for {} of that it does what takes less than \
             {}: a queue of short requests",
            percent(1.0 - long / all_ns),
            human(long_ns)
        ));
    }
    if let Some(blind) = Looked::too_small(case, &claims) {
        return blind;
    }
    let longest_ns = lengths.iter().copied().fold(0.0, f64::max);
    found(case, endpoint, &looked, &picked, (usual_ns, longest_ns))
}

fn found(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    looked: &Looked<'_>,
    picked: &[Picked<'_>],
    (usual_ns, longest_ns): (f64, f64),
) -> Verdict {
    let claims = claims(picked);
    let (place, inside) = (looked.place(endpoint, &claims), looked.inside);
    let what = Looked::shares(picked, place, |p| {
        let does = inside.doing(&p.piece.leaf, p.piece.begin);
        (inside.thread_name(p.hops[0].tid), does)
    });
    let ((thread, does), share) = what.first().cloned().unwrap_or_default();
    let stack = looked.stack(picked, |p| {
        Some(p.piece.leaf.stack).filter(|&stack| stack != NO_STACK)
    });
    let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(" in {frame}"));
    let behalf = Looked::shares(picked, place, |p| p.piece.behalf);
    let others = behalf.iter().find(|(b, _)| *b == Behalf::Other).map_or(0.0, |b| b.1);
    let text = format!(
        "requests wait while thread {thread} is busy for others ({}) or by itself ({}), for up to \
         {} at a time; a request alone takes {} of it",
        percent(others),
        percent(1.0 - others),
        human(longest_ns),
        human(usual_ns)
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "thread {thread} serves many connections in turn, and keeps them waiting while it \
             {does}{inside_of} ({} of these waits, up to {} at a time); move that to another thread",
            percent(share),
            human(longest_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            thread: Some(thread),
            stack,
            ..Culprit::default()
        },
    })
}

/// What a request takes of its loop, in the median of those that are not slow: where the loop itself
/// sleeps or waits for a disk for it, that is taken too.
fn usual_ns(walked: &[Walked]) -> f64 {
    let own = |walked: &Walked| {
        let own = walked.pieces.iter().filter(|p| {
            p.behalf == Behalf::Own
                && matches!(p.leaf.kind, LeafKind::Cpu | LeafKind::Sleep | LeafKind::Disk)
                && p.leaf.tid == walked.joined.reader
                && p.segment == Segment::Service
        });
        own.map(Piece::len_ns).sum::<u64>() as f64
    };
    let mut all: Vec<f64> = walked.iter().filter(|w| !w.slow).map(own).collect();
    median(&mut all).unwrap_or(0.0)
}
