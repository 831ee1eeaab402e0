//! What the target's threads did in a gap between spans: the gap's intervals among the pieces of
//! the requests that were followed through the server.

use std::collections::BTreeMap;

use slowpath_core::trace::NO_STACK;

use super::tally::{GapKey, key_of};
use super::tree::Tree;
use super::window;
use crate::case::{Case, EndpointCase};
use crate::diagnosis::{GapState, SpanGap};
use crate::figures::share;
use crate::trace::inside::{Inside, Walked};
use crate::trace::pieces::{Leaf, LeafKind};

/// Gaps whose states are looked for: those with the largest shares.
const MOST_GAPS: usize = 3;
/// States of a gap that are reported at most.
const MOST_STATES: usize = 5;

/// Reports what threads did in the largest gaps, as far as that was traced.
pub(super) fn tell(case: &Case<'_>, endpoint: &EndpointCase, gaps: &mut [(GapKey, SpanGap)]) {
    let Some(inside) = case.inside() else {
        return;
    };
    let walked = &inside.of_endpoint(endpoint).walked;
    let is_slow = walked.iter().any(|one| one.slow);
    // What slow requests have more of is looked for in them.
    let walked: Vec<&Walked> = walked.iter().filter(|one| one.slow || !is_slow).collect();
    for (key, gap) in gaps.iter_mut().take(MOST_GAPS) {
        gap.states = states(case, inside, &walked, *key);
    }
}

fn states(case: &Case<'_>, inside: &Inside<'_>, walked: &[&Walked], key: GapKey) -> Vec<GapState> {
    let mut found: BTreeMap<(String, String), State> = BTreeMap::new();
    let mut traced_ns = 0;
    for one in walked {
        let sample = case.sample(one.joined.sample);
        let own = case
            .record
            .spans
            .of_request(sample.repeat(), sample.serial());
        let Some(window) = window(sample).filter(|_| !own.is_empty()) else {
            continue;
        };
        let tree = Tree::of(own);
        let parts = tree.parts(window);
        let of_gap = parts.iter().filter(|part| key_of(&tree, part) == Some(key));
        for part in of_gap {
            let (begin, end) = (part.begin.get(), part.end.get());
            let from = one.pieces.partition_point(|piece| piece.end <= begin);
            for piece in one.pieces[from..]
                .iter()
                .take_while(|piece| piece.begin < end)
            {
                let ns = piece.end.min(end).saturating_sub(piece.begin.max(begin));
                traced_ns += ns;
                let (what, thread) = words(inside, &piece.leaf, piece.begin);
                let state = found.entry((what, thread)).or_default();
                state.time_ns += ns;
                state.requests += u64::from(state.last != Some(one.joined.sample));
                state.last = Some(one.joined.sample);
                // Where an idle runtime waits is the same in every program.
                if !matches!(
                    piece.leaf.kind,
                    LeafKind::RuntimeIdle | LeafKind::RuntimeTimer
                ) {
                    *state.stacks.entry(piece.leaf.stack).or_default() += ns;
                }
            }
        }
    }
    let mut told: Vec<GapState> = found
        .into_iter()
        .map(|((what, thread), state)| GapState {
            what: if thread.is_empty() {
                what
            } else {
                format!("thread {thread} {what}")
            },
            stack: state.stack(inside),
            share: share(state.time_ns as f64 / traced_ns.max(1) as f64),
            requests: state.requests,
        })
        .collect();
    told.sort_by(|a, b| {
        b.share
            .total_cmp(&a.share)
            .then_with(|| a.what.cmp(&b.what))
    });
    told.truncate(MOST_STATES);
    told
}

/// What a thread did, and which: names, since threads of a pool have one.
fn words(inside: &Inside<'_>, leaf: &Leaf, at: u64) -> (String, String) {
    if leaf.kind == LeafKind::Outside {
        return ("on the way, or not yet read".to_owned(), String::new());
    }
    match leaf.kind.unexplained() {
        Some(why) => (why.to_owned(), String::new()),
        None if leaf.tid == 0 => (inside.doing(leaf, at), String::new()),
        None => (inside.doing(leaf, at), inside.thread_name(leaf.tid)),
    }
}

/// A state in the gaps of many requests.
#[derive(Default)]
struct State {
    time_ns: u64,
    requests: u64,
    /// The last request that was counted.
    last: Option<u32>,
    stacks: BTreeMap<u32, u64>,
}

impl State {
    /// The stack that it had the longest.
    fn stack(&self, inside: &Inside<'_>) -> Vec<String> {
        let taken = self.stacks.iter().filter(|(stack, _)| **stack != NO_STACK);
        let longest = taken.max_by_key(|(stack, ns)| (**ns, std::cmp::Reverse(**stack)));
        longest.map_or_else(Vec::new, |(&stack, _)| inside.stack_words(stack))
    }
}
