//! Requests wait for a dependency that does not answer, until a timeout ends the wait: what was asked has no
//! reply, and the wait is as long each time.

use std::collections::BTreeMap;

use slowpath_attribution::{Phase, StateSet};
use slowpath_core::nanos::{Nanos, Span};

use super::{Detector, Examine};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Culprit, Grade, Place, Source};
use crate::predict::without_waits;
use crate::timeouts::Timeouts;
use crate::trace::calls::unanswered::Unanswered;
use crate::trace::inside::{Inside, Walked};
use crate::trace::looked::Looked;
use crate::trace::pieces::{LeafKind, Piece};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, plural};

/// From this share of the followed slow requests on, it is what makes them slow.
const SLOW_LEAST: f64 = 0.3;
/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::REPLY.and(StateSet::SLEEP).and(StateSet::UNKNOWN),
    may_be_the_work: false,
};

/// A request that waited for a reply that never came.
struct Wait<'a> {
    walked: &'a Walked,
    question: &'a Unanswered,
    lasts_ns: f64,
}

/// The waits of the slow requests of an endpoint that are as long as each other, and whether they are enough to be what makes requests slow.
fn alike<'a>(
    inside: &Inside<'_>,
    slow: &[&'a Walked],
    unanswered: &'a [Unanswered],
) -> (Timeouts<Wait<'a>>, bool) {
    let waits = slow
        .iter()
        .filter_map(|walked| wait(inside, walked, unanswered));
    let alike = Timeouts::of(waits.collect(), |wait| wait.lasts_ns);
    let are_enough = alike.are_some && alike.waits.len() as f64 >= SLOW_LEAST * slow.len() as f64;
    (alike, are_enough)
}

fn slow(walked: &[Walked]) -> Vec<&Walked> {
    walked.iter().filter(|walked| walked.slow).collect()
}

/// When slow requests waited for a reply that never came, by their positions in the record, and the connections on which they had
/// asked; none if this is not what makes requests slow.
pub(crate) fn waits(inside: &Inside<'_>, walked: &[Walked]) -> BTreeMap<u32, (u32, Span)> {
    let unanswered = inside.unanswered();
    let (alike, are_enough) = alike(inside, &slow(walked), &unanswered);
    let waits = alike.waits.iter().filter(|_| are_enough);
    let span = |wait: &Wait<'_>| {
        let end = wait.walked.joined.part(Phase::Service).1;
        Span::new(
            Nanos::new(wait.question.begin.max(1)),
            Nanos::new(end.max(1)),
        )
    };
    waits
        .map(|wait| {
            (
                wait.walked.joined.sample,
                (wait.question.socket, span(wait)),
            )
        })
        .collect()
}

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let unanswered = looked.inside.unanswered();
    let slow = slow(&looked.join.walked);
    let (alike, are_enough) = alike(looked.inside, &slow, &unanswered);
    let Timeouts {
        waits: alike,
        usual_ns: usual,
        ..
    } = alike;
    if !are_enough {
        return Verdict::Absent(format!(
            "{} of {} followed slow requests asked another server that did not answer, and went on after the \
             same time",
            alike.len(),
            slow.len()
        ));
    }
    let claims: Vec<Claim> = alike
        .iter()
        .map(|wait| {
            let end = wait.walked.joined.part(Phase::Service).1;
            Claim::between(wait.walked.joined.sample, (wait.question.begin, end))
        })
        .collect();
    let peer = looked
        .inside
        .other_end(alike[0].question.socket)
        .unwrap_or_default();
    let text = format!(
        "{} of {} followed slow requests asked {peer}, which did not answer, and went on {} later",
        alike.len(),
        slow.len(),
        human(usual)
    );
    Verdict::Found(Found {
        place: Place::Tail,
        prediction: without_waits(case, endpoint, Place::Tail, looked.join, &claims),
        amount: Amount::Claims(claims),
        grade: Grade::Supported,
        summary: format!(
            "requests wait {} for {peer}, until a timeout ends the wait; find out why it does not answer, shorten the \
             timeout, or answer without it",
            human(usual)
        ),
        evidence: vec![evidence(
            Source::Trace,
            "trace",
            format!(
                "{text} ({} without a reply in all)",
                plural(unanswered.len() as u64, "question")
            ),
        )],
        culprit: Culprit {
            constant_ms: Some(usual / 1e6),
            ..Culprit::default()
        },
    })
}

/// The question without a reply that a request asked first, if it then waited for most of its time.
fn wait<'a>(
    inside: &Inside<'_>,
    walked: &'a Walked,
    unanswered: &'a [Unanswered],
) -> Option<Wait<'a>> {
    let (begin, end) = walked.joined.part(Phase::Service);
    let first = unanswered.partition_point(|question| question.begin < begin);
    let mut asked = unanswered[first..]
        .iter()
        .take_while(|question| question.begin < end);
    let question = asked.find(|question| inside.may_ask_for(question.tid, walked))?;
    let waits = walked
        .pieces
        .iter()
        .filter(|piece| piece.begin >= question.begin);
    let computed: u64 = waits
        .filter(|p| p.leaf.kind == LeafKind::Cpu)
        .map(Piece::len_ns)
        .sum();
    let lasts_ns = end - question.begin;
    (2 * lasts_ns > end - begin && 2 * computed < lasts_ns).then_some(Wait {
        walked,
        question,
        lasts_ns: lasts_ns as f64,
    })
}
