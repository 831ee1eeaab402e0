//! Requests wait for one tick of a timer that knows whole milliseconds only: whatever is asked of it, a tenth of
//! that or nothing, takes a whole one.

use slowpath_attribution::StateSet;
use slowpath_core::nanos::MILLISECOND;
use slowpath_core::trace::Call;

use crate::case::{Case, EndpointCase};
use crate::detectors::{Detector, Examine};
use crate::diagnosis::{Culprit, Grade, Source};
use crate::predict::without_waits;
use crate::trace::looked::{Looked, claims};
use crate::trace::pieces::{Behalf, LeafKind, Piece};
use crate::verdict::{Amount, Claim, Found, Verdict, evidence, human, ms, percent};

/// What `poll(2)` and `epoll_wait(2)` can be asked for, and the wheels of the runtimes that wait in them
/// (tokio, libuv, Go's network poller): whole milliseconds, rounded up.
const TICK_NS: u64 = MILLISECOND;
/// One tick, as it is seen, is no longer than this: a wake-up takes its time. It may be shorter, where a runtime's
/// clock strikes every millisecond and is asked in between.
const ONE: f64 = 1.5;
/// So many of the waits are of one tick; where others are longer, timers are set to what is wanted.
const MOSTLY: f64 = 0.8;

/// See the module.
pub(super) static DETECTOR: Detector = Detector {
    examine: Examine::Followed(examine),
    could_be: StateSet::SLEEP
        .and(StateSet::UNTRACED)
        .and(StateSet::PARKED),
    may_be_the_work: true,
};

fn examine(case: &Case<'_>, endpoint: &EndpointCase, looked: &Looked<'_>) -> Verdict {
    let all = waits(looked);
    let n = looked.join.walked.len();
    if all.is_empty() {
        let text =
            format!("none of {n} requests waited for a timer that knows whole milliseconds only");
        return Verdict::Absent(text);
    }
    let ticks = all.chunk_by(same).filter(|waits| is_one_tick(waits));
    let waits: Vec<Claim> = ticks.flatten().copied().collect();
    let share = waits.chunk_by(same).count() as f64 / all.chunk_by(same).count() as f64;
    if share < MOSTLY {
        return Verdict::Absent(format!(
            "{} of the requests that wait for such timers wait for more than one tick",
            percent(1.0 - share)
        ));
    }
    if let Some(lead) = looked.too_small(case, endpoint, &waits) {
        return lead;
    }
    let place = looked.place(endpoint, &waits);
    let whole: u64 = waits.iter().map(|claim| claim.span.len_ns()).sum();
    let each_ns = whole as f64 / waits.len() as f64;
    let text = format!(
        "{} waits of {n} followed requests are ended by a timer of their thread's poll after {} on average, \
         {} of all such waits: one tick, and no more",
        waits.len(),
        human(each_ns),
        percent(share)
    );
    Verdict::Found(Found {
        place,
        prediction: without_waits(case, endpoint, place, looked.join, &waits),
        amount: Amount::Claims(waits),
        grade: Grade::Suspected,
        summary: format!(
            "requests wait {} for a timer of whole milliseconds: what was asked of it is a millisecond or less, \
             perhaps nothing; do not wait at all, wake the waiter, or use a finer timer",
            human(each_ns)
        ),
        evidence: vec![evidence(Source::Trace, "trace", text)],
        culprit: Culprit {
            constant_ms: Some(ms(TICK_NS as f64)),
            ..Culprit::default()
        },
    })
}

fn same(one: &Claim, next: &Claim) -> bool {
    one.sample == next.sample
}

/// Whether the waits of a request are one tick from the first to the last: a longer one may be cut into short
/// pieces by what its thread does for other requests in between.
fn is_one_tick(waits: &[Claim]) -> bool {
    let (Some(first), Some(last)) = (waits.first(), waits.last()) else {
        return false;
    };
    last.span.end.since(first.span.begin) as f64 <= ONE * TICK_NS as f64
}

/// What the threads that have the requests waited for in `poll(2)` and its like until a timer fired.
fn waits(looked: &Looked<'_>) -> Vec<Claim> {
    let is_timer = |piece: &Piece| match piece.leaf.kind {
        LeafKind::RuntimeTimer => true,
        LeafKind::Sleep => piece.leaf.call == Some(Call::Poll),
        _ => false,
    };
    claims(
        &looked.pick(|_, piece, hops| {
            piece.behalf == Behalf::Own && hops.len() == 1 && is_timer(piece)
        }),
    )
}
