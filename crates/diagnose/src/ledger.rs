//! The ledger: who explains how much of the excess, with nothing counted twice.
//!
//! Detectors claim intervals of requests. Claims are settled in the order of [`PRECEDENCE`]; what
//! one cause has, the next does not get. A request that waited because every connection was busy
//! waited for whatever kept them busy, so that part of its time is shared out like the rest.

use std::borrow::Cow;

use slowpath_core::catalogue as name;
use slowpath_core::nanos::Span;
use slowpath_core::record::RunRecord;
use slowpath_core::samples::SampleRef;
use slowpath_core::stats::bootstrap::{ShareInterval, share_interval};

use crate::diagnosis::Part;
use crate::frame::Frame;
use crate::verdict::Claim;

/// Who is served first: the instrument, then the transport, then CPU supply, then waiting. What
/// stands further down is more easily an effect of what stands above: a full
/// queue follows from a lack of CPU, a lack of CPU never from a sleep.
pub const PRECEDENCE: &[&str] = &[
    name::CLIENT_SATURATION,
    name::CLOCK_JUMP,
    name::ACCEPT_QUEUE_OVERFLOW,
    name::DELAYED_ACK,
    name::CPU_QUOTA_THROTTLING,
    name::CPU_SATURATION,
    name::LOCK_HELD_OVER_IO,
    name::LOCK_CONTENTION,
    name::EVENT_LOOP_BLOCKING,
    name::RUN_QUEUE_DELAY,
    name::FIXED_DELAY,
];

/// The causes that are read from a trace. Requests that were left untraced on purpose, or not
/// followed for want of room, say nothing of them: what these waited for is shared out as it was
/// found in the others.
pub const FROM_TRACE: &[&str] = &[
    name::LOCK_HELD_OVER_IO,
    name::LOCK_CONTENTION,
    name::EVENT_LOOP_BLOCKING,
    name::RUN_QUEUE_DELAY,
];

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

/// Settles the claims of several causes on one frame. `claimants` are (cause, claims) pairs in
/// any order; `blank` are the requests, ascending, of which a trace tells nothing by choice; `seed`
/// makes the intervals reproducible.
pub fn settle(
    record: &RunRecord,
    frame: &Frame,
    claimants: &[(&str, &[Claim])],
    blank: &[u32],
    seed: u64,
) -> Ledger {
    let mut queues = queues(claimants);
    let traced = |queue: &Queue<'_>| FROM_TRACE.contains(&claimants[queue.claimant].0);
    let direct = queues.iter().position(traced).unwrap_or(queues.len());
    let mut account = Account::new(frame, claimants.len());
    for queue in &queues[direct..] {
        account.late[queue.claimant] = true;
    }
    let (mut claims, mut free): (Vec<(usize, Span)>, Vec<Span>) = (Vec::new(), Vec::new());
    for (position, &request) in frame.requests.iter().enumerate() {
        claims.clear();
        let is_blank = direct < queues.len() && blank.binary_search(&request).is_ok();
        for (rank, queue) in queues.iter_mut().enumerate() {
            let claimant = queue.claimant;
            let own = queue.of(request).iter();
            let own = own.filter(|_| !is_blank || rank < direct);
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

/// Running sums while requests are settled.
struct Account {
    /// Claimed time: `[claimant][cluster]`.
    claimed: Vec<Vec<f64>>,
    /// Unclaimed waiting for a connection, by cluster: shared out at the end.
    queued: Vec<f64>,
    /// Excess by cluster.
    excess: Vec<f64>,
    /// Unclaimed time outside the queue, by the phase it lies in.
    phases: [f64; PHASES.len()],
    /// Whether a claimant has its turn only after one that reads a trace: of blank requests these
    /// get what they have of the others.
    late: Vec<bool>,
    /// What blank requests have left for them, by cluster.
    blank: Vec<f64>,
    /// What the others had left for them.
    seen: f64,
}

impl Account {
    fn new(frame: &Frame, claimants: usize) -> Self {
        let clusters = frame.clusters as usize;
        Self {
            claimed: vec![vec![0.0; clusters]; claimants],
            queued: vec![0.0; clusters],
            excess: vec![0.0; clusters],
            phases: [0.0; PHASES.len()],
            late: vec![false; claimants],
            blank: vec![0.0; clusters],
            seen: 0.0,
        }
    }

    /// Gives each claimant the part of the request's excess that is still free. The reference
    /// (what a fast request takes) is nobody's: it is set against the unclaimed time first. `free` is
    /// room to work in, with whether the request is blank.
    fn settle_request(
        &mut self,
        record: &RunRecord,
        frame: &Frame,
        position: usize,
        claims: &[(usize, Span)],
        (free, is_blank): (&mut Vec<Span>, bool),
    ) {
        let sample = record.samples.at(frame.requests[position] as usize);
        let cluster = frame.cluster[position] as usize;
        let excess = sample.latency_ns().saturating_sub(frame.reference_ns) as f64;
        self.excess[cluster] += excess;
        free.clear();
        free.push(sample.span());
        let (mut left, mut late) = (excess, 0.0);
        for &(claimant, span) in claims {
            let given = (take(free, span) as f64).min(left);
            self.claimed[claimant][cluster] += given;
            left -= given;
            late += if self.late[claimant] { given } else { 0.0 };
        }
        self.seen += late;
        let unclaimed: u64 = free.iter().map(|s| s.len_ns()).sum();
        if unclaimed == 0 {
            return;
        }
        // Unclaimed excess is spread over the unclaimed time by proportion.
        let scale = left / unclaimed as f64;
        let part = |span: Span| free.iter().map(|s| s.overlap_ns(span)).sum::<u64>() as f64 * scale;
        let queued = part(Span::new(sample.scheduled(), sample.ready()));
        self.queued[cluster] += queued;
        if is_blank {
            self.blank[cluster] += left - queued;
            return;
        }
        self.seen += left - queued;
        for (sum, span) in self.phases.iter_mut().zip(phases(sample)) {
            *sum += part(span);
        }
    }

    /// Gives claimants of what blank requests have left the share that they have of the others;
    /// returns for each the clusters in which it has nothing else.
    fn share_blank(&mut self) -> Vec<usize> {
        let mut by_lot = vec![0; self.claimed.len()];
        let blank: f64 = self.blank.iter().sum();
        if blank <= 0.0 || self.seen <= 0.0 {
            return by_lot;
        }
        for (claimant, claims) in self.claimed.iter_mut().enumerate() {
            let share = claims.iter().sum::<f64>() / self.seen;
            if !self.late[claimant] || share <= 0.0 {
                continue;
            }
            for (claim, &blank) in claims.iter_mut().zip(&self.blank) {
                by_lot[claimant] += usize::from(*claim <= 0.0 && blank > 0.0);
                *claim += blank * share;
            }
        }
        for phase in &mut self.phases {
            *phase *= 1.0 + blank / self.seen;
        }
        by_lot
    }

    /// Shares the queue out and turns sums into shares.
    fn close(mut self, frame: &Frame, seed: u64) -> Ledger {
        let total = frame.excess_ns;
        if total <= 0.0 {
            return Ledger {
                settled: vec![None; self.claimed.len()],
                ..Ledger::default()
            };
        }
        let by_lot = self.share_blank();
        let queued: f64 = self.queued.iter().sum();
        let settled_time = total - queued;
        let inherit = if settled_time > 0.0 {
            queued / settled_time
        } else {
            0.0
        };
        for claims in &mut self.claimed {
            let own: f64 = claims.iter().sum();
            let from_queue = own * inherit;
            for (claim, waiting) in claims.iter_mut().zip(&self.queued) {
                *claim += if queued > 0.0 {
                    from_queue * waiting / queued
                } else {
                    0.0
                };
            }
        }
        let settled: Vec<Option<Settled>> = self
            .claimed
            .iter()
            .zip(&by_lot)
            .map(|(claims, &by_lot)| {
                let clusters = claims.iter().filter(|&&c| c > 0.0).count() - by_lot;
                let share = share_interval(claims, &self.excess, seed)?;
                (clusters > 0).then_some(Settled { share, clusters })
            })
            .collect();
        let explained: f64 = self.claimed.iter().flatten().sum::<f64>() / total;
        let mut split = split(&self.phases, inherit, total);
        if self.seen <= 0.0 {
            let share = self.blank.iter().sum::<f64>() * (1.0 + inherit) / total;
            let why = "in time that was not traced".to_owned();
            split.extend((share >= SPLIT_LEAST).then_some(Part { why, share }));
        }
        Ledger {
            settled,
            unexplained: (1.0 - explained).max(0.0),
            split,
        }
    }
}

/// Smallest part of the excess that the split of the unexplained mentions.
const SPLIT_LEAST: f64 = 0.01;

fn split(phases: &[f64; PHASES.len()], inherit: f64, total: f64) -> Vec<Part> {
    let mut parts: Vec<Part> = PHASES
        .iter()
        .zip(phases)
        .map(|(&why, &ns)| Part {
            why: why.to_owned(),
            share: ns * (1.0 + inherit) / total,
        })
        .filter(|part| part.share >= SPLIT_LEAST)
        .collect();
    parts.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.why.cmp(&b.why)));
    parts
}

/// The phases of a request after it had a connection to itself, in words for people.
const PHASES: [&str; 4] = [
    "sent late by slowpath itself",
    "making the connection",
    "before the first byte",
    "inside the response",
];

/// When these were.
fn phases(sample: SampleRef<'_>) -> [Span; PHASES.len()] {
    let dial = sample.connect_begin().unwrap_or(sample.ready());
    let sent = sample.sent().unwrap_or(sample.done());
    let connected = sample
        .connected()
        .unwrap_or(if sample.connect_begin().is_some() {
            sent
        } else {
            dial
        });
    let first = sample.first_byte().unwrap_or(sample.done());
    let own_lag = if sample.connect_begin().is_some() {
        Span::new(sample.ready(), dial)
    } else {
        Span::new(sample.ready(), sent)
    };
    [
        own_lag,
        Span::new(dial, connected),
        Span::new(sent, first),
        Span::new(first, sample.done()),
    ]
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
