//! Whether the threads that serve requests are seen to sleep in that time.

use slowpath_core::nanos::Span;
use slowpath_core::stats::median::median;

use super::looked::Looked;
use super::pieces::{Behalf, Chains, LeafKind, Piece};
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{Evidence, Source};
use crate::verdict::{Claim, evidence, percent};

/// Fewer requests that were followed show nothing.
const WAITS_LEAST: usize = 30;
/// From this share of a wait on, in the median, the thread's own sleep is what it consists of.
const SLEPT: f64 = 0.6;

/// The trace's word that waits are sleeps of the threads that have the requests.
pub(crate) fn slept(case: &Case<'_>, endpoint: &EndpointCase, waits: &[Claim]) -> Option<Evidence> {
    let looked = Looked::at(case, endpoint).ok()?;
    let mut shares = Vec::new();
    for walked in &looked.join.walked {
        let position = waits.binary_search_by_key(&walked.joined.sample, |wait| wait.sample);
        let Some(wait) = position.ok().map(|place| waits[place].span) else {
            continue;
        };
        let asleep_ns = asleep_ns(&walked.pieces, &looked.inside.chains, wait);
        shares.push(asleep_ns as f64 / wait.len_ns().max(1) as f64);
    }
    let n = shares.len();
    let middle = median(&mut shares).filter(|share| n >= WAITS_LEAST && *share >= SLEPT)?;
    let text = format!(
        "in {n} requests that were followed through the server the thread that has the request \
         sleeps, or is woken by a timer of its runtime, for {} of that time, in the median",
        percent(middle)
    );
    Some(evidence(Source::Trace, "trace", text))
}

/// For how long the thread that has a request sleeps for it in that time, or its runtime is idle until a
/// timer fires. A request that waits for the sleep of another is in a queue.
fn asleep_ns(pieces: &[Piece], chains: &Chains, wait: Span) -> u64 {
    let asleep = pieces.iter().filter(|piece| {
        let own = piece.behalf == Behalf::Own && chains.hops(piece.chain).len() == 1;
        own && matches!(piece.leaf.kind, LeafKind::Sleep | LeafKind::RuntimeTimer)
    });
    asleep
        .map(|piece| Span::overlap_ns(piece.span(), wait))
        .sum()
}

#[cfg(test)]
mod tests {
    use slowpath_core::nanos::Nanos;
    use slowpath_core::trace::{Call, NO_STACK};

    use super::*;
    use crate::diagnosis::Phase;
    use crate::trace::pieces::{Hop, How, Leaf};

    #[test]
    fn whoever_waits_behind_the_sleep_of_another_does_not_sleep() {
        let mut chains = Chains::default();
        let hop = Hop {
            tid: 1,
            how: How::Serves,
            about: 0,
        };
        let chain = chains.longer(Chains::NONE, hop);
        let sleep = |begin, end, behalf| Piece {
            begin,
            end,
            segment: Phase::Unread,
            behalf,
            chain,
            leaf: Leaf {
                kind: LeafKind::Sleep,
                tid: 1,
                call: Some(Call::Sleep),
                stack: NO_STACK,
            },
        };
        let pieces = [
            sleep(100, 200, Behalf::Other),
            sleep(200, 250, Behalf::Background),
            sleep(250, 280, Behalf::Own),
        ];
        let wait = Span::new(Nanos::new(120), Nanos::new(270));
        assert_eq!(asleep_ns(&pieces, &chains, wait), 20);
    }
}
