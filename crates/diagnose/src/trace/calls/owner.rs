//! For which request a call was made, where threads do not say: loops and runtimes that park what waits have many
//! requests under way, and many calls.
//!
//! A request asks just after something happened to it (it was read, or an earlier reply of it was), and something happens
//! to it just after a reply was read (it asks again, or is answered). A call is the request's that this holds for, if
//! it holds for one only of those that were under way during the whole call. Which calls are known says
//! more of the others, so that this is done until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Asked, Calls};
use crate::case::Case;
use crate::diagnosis::Phase;
use crate::trace::inside::Inside;
use crate::trace::join::Joined;

/// Between what happens to a request and what it does next, at most: a handler that does hardly anything in between takes
/// some tens of microseconds, and as long again where its thread has to wait for a CPU.
const NEXT_NS: u64 = 500_000;
/// So many of its calls before one are examined, at most: more at the same time are met rarely.
const BESIDE_MOST: usize = 8;
/// It fits on one side at least, and better than any other. To ask for both sides, or for a lead of a whole side over the next, loses
/// sequences in runtimes that park, whose steps are each known from the one before (two of two N+1 queries in Go).
const FITS_LEAST: u32 = 2;
/// Where more requests are under way nothing sets one apart.
const UNDER_WAY_MOST: usize = 256;
/// A sequence of calls is followed forwards in one round, and backwards by one call in each.
const ROUNDS_MOST: usize = 16;

/// Something that happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    /// Whether the request goes on from here: it was read, or one of its replies was. Otherwise it waits from here on: it
    /// asked, or was answered.
    goes_on: bool,
    /// The connection that it asked on, or was answered on by another server.
    socket: Option<u32>,
}

/// A request while the target had it.
struct Request {
    sample: u32,
    begin: u64,
    end: u64,
    /// In order of time.
    events: Vec<Event>,
    /// When calls of it are under way, by their beginnings.
    calls: Vec<(u64, u64)>,
}

impl Request {
    fn new(sample: u32, (begin, end): (u64, u64)) -> Self {
        let event = |at, goes_on| Event {
            at,
            goes_on,
            socket: None,
        };
        let events = vec![event(begin, true), event(end, false)];
        Self {
            sample,
            begin,
            end,
            events,
            calls: Vec::new(),
        }
    }

    /// Whether it is known to ask something else during a call: it may, and most do not.
    fn asks_during(&self, call: &Asked) -> bool {
        let until = self.calls.partition_point(|own| own.0 < call.end);
        let mut before = self.calls[..until].iter().rev().take(BESIDE_MOST);
        before.any(|own| own.1 > call.begin)
    }

    /// How well a call fits in between what is known to have happened to the request, from 0 to 6. For each side: two where
    /// the nearest event is near and the right one, and one more if it was on the same connection, which a pool gives again
    /// to the one that has just given it back; one where another near event is the right one: of several calls at the same time.
    /// One less if it asks something else at the same time.
    fn fits(&self, call: &Asked) -> u32 {
        let near = |at: u64, from: u64| at.abs_diff(from) <= NEXT_NS;
        let side = |goes_on: bool, from: u64, events: &mut dyn Iterator<Item = &Event>| {
            let mut events = events.take_while(|event| near(event.at, from)).peekable();
            match events.peek() {
                Some(first) if first.goes_on == goes_on => {
                    2 + u32::from(first.socket == Some(call.socket))
                }
                _ => u32::from(events.any(|event| event.goes_on == goes_on)),
            }
        };
        let before = self.events.partition_point(|event| event.at <= call.begin);
        let after = self.events.partition_point(|event| event.at < call.end);
        let both = side(true, call.begin, &mut self.events[..before].iter().rev())
            + side(false, call.end, &mut self.events[after..].iter());
        both.saturating_sub(u32::from(self.asks_during(call)))
    }

    fn note(&mut self, call: &Asked) {
        for (at, goes_on) in [(call.begin, false), (call.end, true)] {
            let event = Event {
                at,
                goes_on,
                socket: Some(call.socket),
            };
            let place = self.events.partition_point(|other| *other < event);
            self.events.insert(place, event);
        }
        let place = self.calls.partition_point(|own| own.0 < call.begin);
        self.calls.insert(place, (call.begin, call.end));
    }
}

/// The requests that calls were made for.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// By position among the calls: the request's position in the record's samples.
    of: Vec<Option<u32>>,
    /// The same the other way round.
    by_sample: BTreeMap<u32, Vec<usize>>,
}

impl Owners {
    /// Finds them, if the target has loops or parks what waits.
    pub(super) fn of(case: &Case<'_>, inside: &Inside<'_>, calls: &Calls) -> Self {
        let all = &calls.all[..];
        let joined = || inside.endpoints.iter().flat_map(|e| &e.joined);
        let readers: BTreeSet<u32> = joined().map(|joined| joined.reader).collect();
        let is_shared = |&tid: &u32| inside.loops.has(tid) || inside.index.parks(tid);
        if !readers.iter().any(is_shared) {
            return Self::default();
        }
        let mut requests = requests(case, inside);
        let open = under_way(&requests, all, |call| {
            !calls.background.contains(&call.remote)
        });
        let last = |joined: &Joined| Some((joined.sample, calls.last_place(inside, joined)?));
        let known = joined().filter_map(last).collect();
        let of = settled(&mut requests, all, open, &known);
        let mut by_sample: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (call, owner) in of.iter().enumerate() {
            if let Some(sample) = owner {
                by_sample.entry(*sample).or_default().push(call);
            }
        }
        Self { of, by_sample }
    }

    /// Positions of the calls that were made for a request.
    pub(super) fn calls(&self, sample: u32) -> &[usize] {
        self.by_sample.get(&sample).map_or(&[], Vec::as_slice)
    }

    /// The request that a call was made for, if it is known.
    pub(super) fn owner(&self, call: usize) -> Option<u32> {
        self.of.get(call).copied().flatten()
    }

    /// Whether it is known for which request a call was made.
    pub(super) fn is_known(&self, call: usize) -> bool {
        self.owner(call).is_some()
    }
}

/// For each call the request that it was made for: what is known of some, by the request, says more of the others.
fn settled(
    requests: &mut [Request],
    all: &[Asked],
    mut open: Vec<(usize, Vec<usize>)>,
    known: &BTreeMap<u32, usize>,
) -> Vec<Option<u32>> {
    let mut of = vec![None; all.len()];
    for request in requests.iter_mut() {
        if let Some(&call) = known
            .get(&request.sample)
            .filter(|&&call| of[call].is_none())
        {
            of[call] = Some(request.sample);
            request.note(&all[call]);
        }
    }
    open.retain(|(call, _)| of[*call].is_none());
    for _ in 0..ROUNDS_MOST {
        let before = open.len();
        open.retain(|(call, candidates)| {
            let Some(owner) = only(requests, &all[*call], candidates) else {
                return true;
            };
            of[*call] = Some(requests[owner].sample);
            requests[owner].note(&all[*call]);
            false
        });
        if open.len() == before {
            break;
        }
    }
    of
}

/// The one that a call is made for, if it can be no other.
fn only(requests: &[Request], call: &Asked, candidates: &[usize]) -> Option<usize> {
    let (mut best, mut second, mut owner) = (0, 0, None);
    for &request in candidates {
        let fit = requests[request].fits(call);
        if fit > best {
            (best, second, owner) = (fit, best, Some(request));
        } else {
            second = second.max(fit);
        }
    }
    owner.filter(|_| best >= FITS_LEAST && best > second)
}

/// The requests of a run while the target had them, by their beginnings.
fn requests(case: &Case<'_>, inside: &Inside<'_>) -> Vec<Request> {
    let joined = inside.endpoints.iter().flat_map(|e| &e.joined);
    let joined: BTreeMap<u32, (u64, u64)> = joined
        .map(|joined| (joined.sample, joined.part(Phase::Service)))
        .collect();
    let samples = (0_u32..).zip(&case.record.samples);
    let all = samples.filter_map(|(position, sample)| {
        let seen = || Some((sample.sent()?.get(), sample.done().get()));
        let (begin, end) = joined.get(&position).copied().or_else(seen)?;
        Some(Request::new(position, (begin, end)))
    });
    let mut all: Vec<Request> = all.collect();
    all.sort_unstable_by_key(|request| (request.begin, request.sample));
    all
}

/// For each call that is served for a request, those that were under way during the whole of it.
fn under_way(
    requests: &[Request],
    all: &[Asked],
    served: impl Fn(&Asked) -> bool,
) -> Vec<(usize, Vec<usize>)> {
    let mut calls: Vec<usize> = (0..all.len()).filter(|&call| served(&all[call])).collect();
    calls.sort_unstable_by_key(|&call| all[call].begin);
    let mut next = 0;
    let mut active: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(calls.len());
    for call in calls {
        let asked = &all[call];
        while requests.get(next).is_some_and(|r| r.begin <= asked.begin) {
            active.push(next);
            next += 1;
        }
        active.retain(|&r| requests[r].end >= asked.begin);
        if active.len() > UNDER_WAY_MOST {
            continue;
        }
        let whole = active.iter().filter(|&&r| requests[r].end >= asked.end);
        out.push((call, whole.copied().collect()));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    const MS: u64 = slowpath_core::nanos::MILLISECOND;

    fn call(socket: u32, begin: u64, end: u64) -> Asked {
        Asked {
            socket,
            remote: SocketAddr::from(([10, 0, 0, 1], 5_432)),
            tid: 1,
            begin,
            end,
        }
    }

    /// The requests that calls are made for, all calls in order of their ends.
    fn owners(spans: &[(u64, u64)], all: &[Asked]) -> Vec<Option<u32>> {
        let requests = (0..).zip(spans);
        let mut requests: Vec<Request> = requests.map(|(n, &span)| Request::new(n, span)).collect();
        let open = under_way(&requests, all, |_| true);
        settled(&mut requests, all, open, &BTreeMap::new())
    }

    #[test]
    fn a_call_fits_in_between_the_request_and_its_answer() {
        // Two at the same time, each with a call of its own length.
        let spans = [(10 * MS, 30 * MS), (12 * MS, 60 * MS)];
        let near = MS / 10;
        let calls = [
            call(1, 10 * MS + near, 30 * MS - near),
            call(2, 12 * MS + near, 60 * MS - near),
        ];
        assert_eq!(owners(&spans, &calls), [Some(0), Some(1)]);
    }

    #[test]
    fn a_sequence_is_followed_from_call_to_call() {
        // A request that computes all the time is under way beside it.
        let spans = [(10 * MS, 90 * MS), (20 * MS, 52 * MS)];
        let calls: Vec<Asked> = (0..10)
            .map(|n| 20 * MS + MS / 10 + n * 3 * MS)
            .map(|begin| call(1, begin, begin + 3 * MS - MS / 10))
            .collect();
        assert_eq!(owners(&spans, &calls), [Some(1); 10]);
    }

    #[test]
    fn a_call_that_fits_two_belongs_to_none() {
        let spans = [(10 * MS, 30 * MS), (10 * MS, 30 * MS)];
        let calls = [call(1, 10 * MS + 1, 30 * MS - 1)];
        assert_eq!(owners(&spans, &calls), [None]);
        // Nor one that fits none of those which may have asked, be it one or several.
        assert_eq!(owners(&spans[..1], &[call(1, 15 * MS, 25 * MS)]), [None]);
        let spans = [(10 * MS, 50 * MS), (11 * MS, 51 * MS)];
        assert_eq!(owners(&spans, &[call(1, 20 * MS, 30 * MS)]), [None]);
    }

    #[test]
    fn a_pool_gives_a_connection_back_to_the_request_that_had_it() {
        // Two sequences whose steps fall together, each on its own connection.
        let spans = [(10 * MS, 40 * MS), (11 * MS, 41 * MS)];
        let step = |socket, n: u64, begin| {
            call(
                socket,
                begin + n * 10 * MS + 50_000,
                begin + (n + 1) * 10 * MS,
            )
        };
        let mut calls: Vec<Asked> = (0..3)
            .flat_map(|n| [step(1, n, 10 * MS), step(2, n, 11 * MS)])
            .collect();
        calls.sort_by_key(|call| call.end);
        let owners = owners(&spans, &calls);
        for (call, owner) in calls.iter().zip(owners) {
            assert_eq!(owner, Some(call.socket - 1));
        }
    }

    #[test]
    fn where_too_many_are_under_way_nothing_is_known() {
        let spans = vec![(10 * MS, 30 * MS); UNDER_WAY_MOST + 1];
        assert_eq!(owners(&spans, &[call(1, 11 * MS, 12 * MS)]), [None]);
    }
}
