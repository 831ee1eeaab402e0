//! Calls of a request that follow each other.

use std::net::SocketAddr;

use slowpath_core::nanos::{MILLISECOND, Nanos, Span};
use slowpath_core::stats::median::median;

use super::Asked;
use crate::verdict::Claim;

/// From so many calls that are alike on it is a loop. A greeting, a login and a question are three, and
/// a transaction of four (begin, look up, change, commit) has two that are answered at once and one that
/// waits for a disk: what asks four times alike asks the same.
pub(crate) const CALLS_LEAST: usize = 4;
/// Of calls that are felt each by itself three are enough: a greeting and a login are answered at once …
const LONG_CALLS_LEAST: usize = 3;
/// … and what takes less than this is what asking takes.
const LONG_CALL_NS: f64 = 20.0 * MILLISECOND as f64;
/// Calls are alike that take between the middle of them divided by this and times this: replies to one
/// question on one network spread by less, but for the slow ones.
const ALIKE: f64 = 2.0;
/// The calls take at least this share of the request, or it is slow by something else.
const SHARE_LEAST: f64 = 0.5;
/// Where one of the calls takes more than this share of all of them, that one is slow, and not their
/// number.
const LONGEST_MOST: f64 = 0.5;
/// A pause between two calls that is longer than the longest of them, and than this, is no loop that
/// asks on at once: who tries again waits before.
const PAUSE_LEAST_NS: u64 = MILLISECOND;
/// From so many calls on, what the request does between two of them is the work for one: a row of a result is read, and made an
/// object (an ORM asks for what belongs to each row).
const MANY_CALLS: usize = 20;
/// At least this part of it is waiting for replies: where it is less, the work between is what takes long, and asking for all at once
/// would not spare it.
const ASKING_LEAST: f64 = 1.0 / 3.0;
/// A thread that asks so often is kept off its CPU now and then, or its runtime collects garbage: after a pause of up to this (a few turns
/// of other threads on its CPU, a short collection) the row goes on. The pause itself is no part of what the row takes.
const MANY_PAUSE_NS: u64 = 10 * MILLISECOND;

/// The calls of one request that follow each other.
pub(crate) struct Row {
    pub(crate) sample: u32,
    pub(crate) slow: bool,
    /// Whether all calls of the request are known.
    pub(crate) whole: bool,
    /// Whether other requests ask on its connections at the time.
    pub(crate) shared: bool,
    pub(crate) calls: Vec<Asked>,
}

impl Row {
    pub(crate) fn sum_ns(&self) -> u64 {
        self.calls.iter().map(|call| call.end - call.begin).sum()
    }

    pub(crate) fn longest(&self) -> Option<&Asked> {
        self.calls.iter().max_by_key(|call| call.end - call.begin)
    }

    /// What the calls but one take of the request, with the work for each where they are many.
    pub(crate) fn claims(&self, without: Option<&Asked>) -> Vec<Claim> {
        let ends = self
            .calls
            .iter()
            .enumerate()
            .map(|(place, call)| (call, end(&self.calls, place)));
        let kept = ends.filter(|(call, _)| without != Some(call));
        let claim = |(call, end): (&Asked, u64)| Claim {
            sample: self.sample,
            span: Span::new(Nanos::new(call.begin), Nanos::new(end)),
        };
        kept.map(claim).collect()
    }
}

/// Whether so many calls, rather than one slow call, are what a request of that length consists of.
pub(crate) fn is_fanout(row: &[Asked], latency_ns: u64) -> bool {
    let lengths = row.iter().map(|call| call.end - call.begin);
    let (sum, longest) = (lengths.clone().sum::<u64>() as f64, lengths.max());
    let longest = longest.unwrap_or(0) as f64;
    let least = if sum >= LONG_CALL_NS * row.len() as f64 {
        LONG_CALLS_LEAST
    } else {
        CALLS_LEAST
    };
    let with_work: u64 = (0..row.len())
        .map(|place| end(row, place) - row[place].begin)
        .sum();
    alike(row) >= least
        && with_work as f64 >= SHARE_LEAST * latency_ns as f64
        && sum >= ASKING_LEAST * with_work as f64
        && longest <= LONGEST_MOST * sum
}

/// When what a call of a row is for is done: with its reply, or, where calls are many, when the next one is asked, if that is soon.
fn end(row: &[Asked], place: usize) -> u64 {
    let own = &row[place];
    let next = row
        .get(place + 1)
        .filter(|next| row.len() >= MANY_CALLS && follows(own, next));
    next.map_or(own.end, |next| next.begin)
}

/// How many of the calls take about as long as the middle one.
fn alike(row: &[Asked]) -> usize {
    let length = |call: &Asked| (call.end - call.begin) as f64;
    let mut lengths: Vec<f64> = row.iter().map(length).collect();
    let middle = median(&mut lengths).unwrap_or(0.0);
    let alike = |ns: &&f64| (middle / ALIKE..=middle * ALIKE).contains(*ns);
    lengths.iter().filter(alike).count()
}

/// Of calls in order of their ends, the row to one server that takes longest, each of which begins when
/// the one before is over.
pub(crate) fn longest_row(calls: &[&Asked]) -> Option<Vec<Asked>> {
    let soon = |last: &Asked, call: &Asked| {
        call.begin >= last.end && call.begin - last.end <= MANY_PAUSE_NS
    };
    let many = longest_row_of(calls, soon).filter(|row| row.len() >= MANY_CALLS);
    many.or_else(|| longest_row_of(calls, follows))
}

fn longest_row_of(calls: &[&Asked], follows: fn(&Asked, &Asked) -> bool) -> Option<Vec<Asked>> {
    let mut rows: Vec<(SocketAddr, Vec<Asked>)> = Vec::new();
    for call in calls {
        let place = rows.iter().rposition(|(remote, _)| *remote == call.remote);
        let last = place.and_then(|place| rows[place].1.last().map(|last| (place, *last)));
        match last {
            Some((place, last)) if follows(&last, call) => rows[place].1.push(**call),
            // Beside it: no row.
            Some((_, last)) if call.begin < last.end => {}
            _ => rows.push((call.remote, vec![**call])),
        }
    }
    let sum = |row: &[Asked]| row.iter().map(|call| call.end - call.begin).sum::<u64>();
    rows.into_iter()
        .map(|(_, row)| row)
        .max_by_key(|row| sum(row))
}

/// Whether a call is asked as soon as the one before is over.
fn follows(last: &Asked, call: &Asked) -> bool {
    let longest = (last.end - last.begin).max(call.end - call.begin);
    call.begin >= last.end && call.begin - last.end <= longest.max(PAUSE_LEAST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of these lengths, one after the other.
    fn row(lengths: &[u64]) -> Vec<Asked> {
        let mut begin = 0;
        let call = |&ms: &u64| {
            let at = begin;
            begin += ms * MILLISECOND;
            Asked {
                socket: 0,
                remote: SocketAddr::from(([10, 0, 0, 1], 5_432)),
                tid: 1,
                begin: at,
                end: begin,
            }
        };
        lengths.iter().map(call).collect()
    }

    #[test]
    fn the_work_for_each_of_many_calls_is_theirs() {
        let mut many = row(&[1; 24]);
        for (place, call) in (0..).zip(&mut many) {
            call.begin += place * MILLISECOND;
            call.end = call.begin + MILLISECOND;
        }
        let latency_ns = 50 * MILLISECOND;
        assert!(is_fanout(&many, latency_ns), "half of it is work between");
        assert!(!is_fanout(&many[..12], latency_ns / 2), "so few may pause");
        // Kept off its CPU once.
        for call in &mut many[12..] {
            call.begin += 4 * MILLISECOND;
            call.end += 4 * MILLISECOND;
        }
        let calls: Vec<&Asked> = many.iter().collect();
        assert_eq!(longest_row(&calls).map(|row| row.len()), Some(24));
        assert_eq!(longest_row(&calls[..16]).map(|row| row.len()), Some(12));
    }

    #[test]
    fn four_calls_that_are_alike_are_a_loop_and_four_that_are_not_are_not() {
        let is_row = |lengths: &[u64]| {
            let whole = lengths.iter().sum::<u64>() * MILLISECOND;
            is_fanout(&row(lengths), whole)
        };
        assert!(is_row(&[10, 12, 9, 11]));
        assert!(is_row(&[1, 10, 12, 9, 11, 14]));
        assert!(is_row(&[35, 33, 36]), "three that are felt each by itself");
        assert!(!is_row(&[10, 12, 9]), "a greeting, a login and a question");
        assert!(!is_row(&[1, 10, 11, 4]), "begin, look up, change, commit");
        assert!(!is_row(&[5, 5, 5, 5, 60]), "one of them is slow");
    }
}
