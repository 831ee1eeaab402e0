//! The ledger: who explains how much of the excess, with nothing counted twice.
//!
//! Detectors claim intervals of requests. What a trace or a counter supports is settled before what
//! only coincides, and within that in the order of the registry; what one cause has, the next does not
//! get. A request that waited because every connection was busy
//! waited for whatever kept them busy, so that part of its time is shared out like the rest.

mod account;
mod like;
mod phases;

use std::borrow::Cow;

use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::stats::bootstrap::ShareInterval;

use self::account::{Account, Turn};
use self::like::Like;
use crate::diagnosis::Part;
use crate::frame::Frame;
use crate::verdict::Claim;

/// A cause is named from this share of the excess on …
pub const NAMED_SHARE: f64 = 0.30;
/// … if the lower end of its interval is at least this …
pub const NAMED_SHARE_LOW: f64 = 0.15;
/// … and it rests on at least so many independent episodes.
pub const NAMED_EPISODES: usize = 6;
/// Failures are an answer of their own from this share of what was offered on.
pub const NAMED_ERRORS: f64 = 0.01;

/// What one cause was given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Its share of the excess.
    pub share: ShareInterval,
    /// Clusters in which it has a part.
    pub clusters: usize,
    /// Clusters in which it has a part at the least, judged by those of which requests were followed.
    pub least: usize,
}

impl Settled {
    /// Whether it may be named.
    pub fn is_named(&self) -> bool {
        self.share.share >= NAMED_SHARE
            && self.share.low >= NAMED_SHARE_LOW
            && self.least >= NAMED_EPISODES
    }
}

/// The settled ledger of one frame.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// For each claimant, in the order given, its part; `None` without any.
    pub settled: Vec<Option<Settled>>,
    /// The share that no cause claimed.
    pub unexplained: f64,
    /// Where the unclaimed time lies, largest part first, as shares of the excess.
    pub split: Vec<Part>,
}

/// The requests that were left untraced by choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blanks<'a> {
    /// Their positions in the record's samples, ascending.
    pub requests: &'a [u32],
    /// How long what is traced lasts without a break, on average.
    pub traced_ns: u64,
}

/// What one cause claims.
#[derive(Clone, Copy, Debug)]
pub struct Claimant<'a> {
    /// Intervals of requests.
    pub claims: &'a [Claim],
    /// Whether they are read from a trace. Requests that were left untraced on purpose, or not followed
    /// for want of room, say nothing of such a cause: what these waited for is taken to be what requests
    /// like them were seen to wait for.
    pub traced: bool,
    /// Its turn: low ranks are settled first.
    pub rank: (Trust, usize),
}

/// How well it is known that a cause had the time that it claims; better known ones are settled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// A trace or a counter of the target shows the mechanism.
    Supported,
    /// It only coincides.
    Suspected,
    /// It cannot be distinguished from others.
    Lead,
}

/// Settles the claims of several causes on one frame, given in any order; `seed` makes the intervals
/// reproducible.
pub fn settle(
    record: &RunRecord,
    frame: &Frame,
    claimants: &[Claimant<'_>],
    blank: Blanks<'_>,
    seed: u64,
) -> Ledger {
    let mut queues = queues(claimants);
    let traced = |claimant: usize| claimants[claimant].traced;
    let first = queues.iter().position(|queue| traced(queue.claimant));
    let direct = first.unwrap_or(queues.len());
    let mut turns = vec![Turn::First; claimants.len()];
    for queue in &queues[direct..] {
        turns[queue.claimant] = if traced(queue.claimant) {
            Turn::Traced
        } else {
            Turn::Late
        };
    }
    let some_blank = first.is_some() && !blank.requests.is_empty();
    let like = some_blank.then(|| Like::new(blank.traced_ns));
    let mut account = Account::new(frame, turns, like);
    let (mut claims, mut free): (Vec<(usize, Span)>, Vec<Span>) = (Vec::new(), Vec::new());
    for (position, &request) in frame.requests.iter().enumerate() {
        claims.clear();
        let is_blank = some_blank && blank.requests.binary_search(&request).is_ok();
        for queue in &mut queues {
            let claimant = queue.claimant;
            let own = queue.of(request).iter();
            claims.extend(own.map(|claim| (claimant, claim.span)));
        }
        let room = (&mut free, is_blank);
        account.settle_request(record, frame, position, &claims, room);
    }
    account.close(frame, seed)
}

/// The claims of each claimant, in order of rank.
fn queues<'a>(claimants: &[Claimant<'a>]) -> Vec<Queue<'a>> {
    let mut order: Vec<usize> = (0..claimants.len()).collect();
    order.sort_by_key(|&i| (claimants[i].rank, i));
    order
        .into_iter()
        .map(|claimant| Queue::new(claimant, claimants[claimant].claims))
        .collect()
}

/// The claims of one claimant, waiting for their requests to come by in ascending order. There may
/// be one for each of ten million requests, so they are not copied.
struct Queue<'a> {
    claimant: usize,
    claims: Cow<'a, [Claim]>,
    /// The first that is still waiting.
    next: usize,
}

impl<'a> Queue<'a> {
    fn new(claimant: usize, claims: &'a [Claim]) -> Self {
        let claims = if claims.is_sorted_by_key(|claim| claim.sample) {
            Cow::Borrowed(claims)
        } else {
            let mut sorted = claims.to_vec();
            sorted.sort_by_key(|claim| claim.sample);
            Cow::Owned(sorted)
        };
        Self {
            claimant,
            claims,
            next: 0,
        }
    }

    /// The claims on a request, which comes after all that were asked for.
    fn of(&mut self, request: u32) -> &[Claim] {
        let waiting = &self.claims[self.next..];
        let begin = self.next + waiting.iter().take_while(|c| c.sample < request).count();
        let own = self.claims[begin..].iter();
        self.next = begin + own.take_while(|c| c.sample == request).count();
        &self.claims[begin..self.next]
    }
}

/// Cuts `span` out of the free intervals and returns how much of it was free.
fn take(free: &mut Vec<Span>, span: Span) -> u64 {
    let mut taken = 0;
    let mut rest = Vec::with_capacity(free.len() + 1);
    for piece in free.drain(..) {
        match piece.intersect(span) {
            None => rest.push(piece),
            Some(common) => {
                taken += common.len_ns();
                for left in [
                    Span::new(piece.begin, common.begin),
                    Span::new(common.end, piece.end),
                ] {
                    if left.len_ns() > 0 {
                        rest.push(left);
                    }
                }
            }
        }
    }
    *free = rest;
    taken
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    fn span(a: u64, b: u64) -> Span {
        Span::new(Nanos::new(a), Nanos::new(b))
    }

    #[test]
    fn nothing_is_taken_twice() {
        let mut free = vec![span(100, 200)];
        assert_eq!(take(&mut free, span(120, 150)), 30);
        assert_eq!(take(&mut free, span(110, 160)), 20);
        assert_eq!(free, [span(100, 110), span(160, 200)]);
        assert_eq!(take(&mut free, span(0, 1000)), 50);
        assert_eq!(take(&mut free, span(0, 1000)), 0);
    }
}
