//! Whether the threads that have requests in hand are seen to sleep meanwhile.

use slowpath_core::nanos::Span;
use slowpath_core::stats::median::median;

use super::looked::Looked;
use super::pieces::LeafKind;
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
        let asleep = walked.pieces.iter().filter(|piece| {
            let own = looked.inside.chains.hops(piece.chain).len() == 1;
            own && piece.leaf.kind == LeafKind::Sleep
        });
        let asleep: u64 = asleep
            .map(|piece| Span::overlap_ns(piece.span(), wait))
            .sum();
        shares.push(asleep as f64 / wait.len_ns().max(1) as f64);
    }
    let n = shares.len();
    let middle = median(&mut shares).filter(|share| n >= WAITS_LEAST && *share >= SLEPT)?;
    let text = format!(
        "in {n} requests that were followed through the server the thread that has the request \
         sleeps for {} of that time, in the median",
        percent(middle)
    );
    Some(evidence(Source::Trace, "trace", text))
}
