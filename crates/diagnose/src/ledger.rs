//! The ledger: who explains how much of the excess, with nothing counted twice.
//!
//! Detectors claim intervals of requests. Claims are settled in the order of [`PRECEDENCE`]; what
//! one cause has, the next does not get. A request that waited because every connection was busy
//! waited for whatever kept them busy, so that part of its time is shared out like the rest.

mod account;
mod like;
mod phases;

use std::borrow::Cow;

use slowpath_core::catalogue as name;
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::stats::bootstrap::ShareInterval;

use self::account::{Account, Turn};
use self::like::Like;
use crate::diagnosis::Part;
use crate::frame::Frame;
use crate::verdict::Claim;

/// Who is served first: the instrument, then the transport, then CPU supply, then waiting. What
/// stands further down is more easily an effect of what stands above: a full
/// queue follows from a lack of CPU, a lack of CPU never from a sleep.
pub const PRECEDENCE: &[&str] = &[
    name::CLIENT_SATURATION,
    name::CLOCK_JUMP,
    name::OBSERVER_EFFECT,
    name::COORDINATED_OMISSION,
    name::WORKLOAD_KEY_COLLISION,
    name::LOST_WORK,
    name::ACCEPT_QUEUE_OVERFLOW,
    name::CONNECTION_LIMIT,
    name::FD_EXHAUSTION,
    name::KEEPALIVE_CLOSE_RACE,
    name::WORKER_RESTART,
    name::PACKET_LOSS,
    name::PORT_EXHAUSTION,
    name::ACCEPT_STARVATION,
    name::CONNECTION_CHURN,
    name::CONNECTION_PER_CALL,
    name::DELAYED_ACK,
    name::RESPONSE_SIZE,
    name::CPU_QUOTA_THROTTLING,
    name::RATE_LIMIT,
    name::ACCUMULATED_STATE,
    name::MEMORY_PRESSURE,
    name::COLD_PAGE_CACHE,
    name::COLD_START,
    name::CACHE_STAMPEDE,
    name::CACHE_EXPIRY,
    name::SLOW_SCAN,
    name::INTERPRETER_LOCK,
    name::CPU_SATURATION,
    name::STOP_THE_WORLD_PAUSE,
    name::LOG_FLUSH,
    name::LOCK_HELD_OVER_IO,
    name::LOCK_CONTENTION,
    name::CONNECTION_POOL_EXHAUSTION,
    name::FSYNC_STALL,
    name::BLOCKING_TELEMETRY,
    name::DNS_LOOKUP,
    name::RETRY_BACKOFF,
    name::SEQUENTIAL_FANOUT,
    name::SLOW_DEPENDENCY,
    name::EVENT_LOOP_BLOCKING,
    name::QUEUEING,
    name::NOISY_NEIGHBOUR,
    name::RUN_QUEUE_DELAY,
    name::WAKE_PLACEMENT,
    name::WORKER_POOL_EXHAUSTION,
    name::TIMER_GRANULARITY,
    name::POLL_TICK,
    name::FIXED_DELAY,
    name::CPU_STEAL,
];

/// The causes that are read from a trace. Requests that were left untraced on purpose, or not
/// followed for want of room, say nothing of them: what these waited for is taken to be what
/// requests like them were seen to wait for.
pub const FROM_TRACE: &[&str] = &[
    name::PACKET_LOSS,
    name::LOG_FLUSH,
    name::LOCK_HELD_OVER_IO,
    name::LOCK_CONTENTION,
    name::CONNECTION_POOL_EXHAUSTION,
    name::INTERPRETER_LOCK,
    name::MEMORY_PRESSURE,
    name::COLD_PAGE_CACHE,
    name::FSYNC_STALL,
    name::BLOCKING_TELEMETRY,
    name::DNS_LOOKUP,
    name::RETRY_BACKOFF,
    name::SEQUENTIAL_FANOUT,
    name::SLOW_DEPENDENCY,
    name::EVENT_LOOP_BLOCKING,
    name::QUEUEING,
    name::NOISY_NEIGHBOUR,
    name::RUN_QUEUE_DELAY,
    name::WAKE_PLACEMENT,
    name::WORKER_POOL_EXHAUSTION,
    name::TIMER_GRANULARITY,
    TRACED_LEAD,
];

/// What would be explained by a cause that cannot be told: it is served last.
pub(crate) const LEAD: &str = "lead";
/// The same, read from a trace.
pub(crate) const TRACED_LEAD: &str = "traced lead";

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
}

impl Settled {
    /// Whether it may be named.
    pub fn is_named(&self) -> bool {
        self.share.share >= NAMED_SHARE
            && self.share.low >= NAMED_SHARE_LOW
            && self.clusters >= NAMED_EPISODES
    }
}

/// The settled ledger of one frame.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// For each claimant, in the order given, its part; `None` without any.
    pub settled: Vec<Option<Settled>>,
    /// The share that nobody claimed.
    pub unexplained: f64,
    /// Where the unclaimed time lies, largest part first, as shares of the excess.
    pub split: Vec<Part>,
}

/// The requests of which a trace tells nothing by choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blanks<'a> {
    /// Their positions in the record's samples, ascending.
    pub requests: &'a [u32],
    /// How long what is traced lasts without a break, on average.
    pub traced_ns: u64,
}

/// Settles the claims of several causes on one frame. `claimants` are (cause, claims) pairs in
/// any order; `seed` makes the intervals reproducible.
pub fn settle(
    record: &RunRecord,
    frame: &Frame,
    claimants: &[(&str, &[Claim])],
    blank: Blanks<'_>,
    seed: u64,
) -> Ledger {
    let mut queues = queues(claimants);
    let traced = |claimant: usize| FROM_TRACE.contains(&claimants[claimant].0);
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

/// The claims of each claimant, in order of precedence.
fn queues<'a>(claimants: &[(&str, &'a [Claim])]) -> Vec<Queue<'a>> {
    let rank = |cause: &str| {
        PRECEDENCE
            .iter()
            .position(|&c| c == cause)
            .unwrap_or(usize::MAX)
    };
    let mut order: Vec<usize> = (0..claimants.len()).collect();
    order.sort_by_key(|&i| (rank(claimants[i].0), i));
    order
        .into_iter()
        .map(|claimant| Queue::new(claimant, claimants[claimant].1))
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

    /// The claims on a request, which comes behind all that were asked for.
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
