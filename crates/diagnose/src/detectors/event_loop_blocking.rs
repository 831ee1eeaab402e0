//! A thread that serves many connections one by one is kept from a request by something long that it
//! does for another, or for none.

use slowpath_attribution::StateSet;
use slowpath_core::trace::NO_STACK;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::predict::without_waits;
use crate::trace::looked::{Looked, Picked, claims};
use crate::trace::loops::{MOSTLY_LONG, behind_the_loop, busy_ns, usual_and_long_ns};
use crate::trace::own_code::own_frame;
use crate::trace::pieces::Behalf;
use crate::verdict::{Amount, Found, Verdict, evidence, human, percent};

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::QUEUED.and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let loops = &looked.inside.loops;
    if loops.is_empty() {
        let text = "no thread was seen to serve connections by turns: there is no event loop";
        return Verdict::Absent(text.to_owned());
    }
    let waits = behind_the_loop(looked);
    if waits.is_empty() {
        let n = looked.join.walked.len();
        let text = format!("none of {n} requests waited while its event loop did something else");
        return Verdict::Absent(text);
    }
    let (usual_ns, long_ns) = usual_and_long_ns(looked);
    let sum = |all: &[Picked<'_>]| all.iter().map(|p| p.piece.len_ns() as f64).sum::<f64>();
    let all_ns = sum(&waits);
    let mut longest_ns = 0.0_f64;
    let mut picked = waits;
    // Requests that wait for many short ones wait in a queue, whatever others wait for.
    picked.retain(|p| {
        let length_ns = busy_ns(looked, p);
        longest_ns = longest_ns.max(length_ns);
        length_ns >= long_ns
    });
    let long = sum(&picked);
    if long < MOSTLY_LONG * all_ns {
        return Verdict::Absent(format!(
            "requests wait for their event loop, but for {} of that it does what takes less than \
             {}: a queue of short requests",
            percent(1.0 - long / all_ns),
            human(long_ns)
        ));
    }
    if let Some(lead) = looked.too_small(case, endpoint, &claims(&picked)) {
        return lead;
    }
    found(case, endpoint, looked, &picked, (usual_ns, longest_ns))
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
    let does = |p: &Picked<'_>| {
        let does = match p.hops[..] {
            [_, whom, ..] => format!("waits for {}", inside.thread_name(whom.tid)),
            _ => inside.doing(&p.piece.leaf, p.piece.begin),
        };
        (inside.thread_name(p.hops[0].tid), does)
    };
    let what = Looked::shares(picked, place, does);
    let (of_most, share) = what.first().cloned().unwrap_or_default();
    // Where it stood when it did something else says nothing of that.
    let stack = looked.stack(picked, |p| {
        let stands = Some(p.piece.leaf.stack).filter(|&stack| stack != NO_STACK);
        stands.filter(|_| p.hops.len() == 1 && does(p) == of_most)
    });
    let (thread, does) = of_most;
    let inside_of = own_frame(&stack).map_or_else(String::new, |frame| format!(" in {frame}"));
    let behalf = Looked::shares(picked, place, |p| p.piece.behalf);
    let others = behalf
        .iter()
        .find(|(b, _)| *b == Behalf::Other)
        .map_or(0.0, |b| b.1);
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
        prediction: without_waits(case, endpoint, place, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "event loop {thread} is blocked, and keeps its connections waiting while it \
             {does}{inside_of} ({} of these waits, up to {} at a time); move that off the loop",
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
