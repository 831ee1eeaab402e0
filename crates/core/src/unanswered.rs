//! Which requests that were never answered count as failed.
//!
//! Of a target that hangs nothing fails, since nothing ends: the end of the run overtakes what is
//! under way, and what is due after it is never sent. A request that was merely cut off has not
//! failed. What distinguishes the two is how long each had been due.

use crate::nanos::{Nanos, SECOND, Span};
use crate::sample::Outcome;
use crate::samples::SampleRef;

/// A request that waited so many times as long as half of those that were answered, and longer than
/// any of them, was not about to be: had it been, it would have been the slowest of all by far.
const MEDIANS: u64 = 10;
/// Where nothing was ever answered, no answer for so long is a hang: the client has given up or
/// tries again.
const SILENCE_NS: u64 = SECOND;

/// How long requests may go without an answer before they count as failed.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    timeout_ns: u64,
    /// `None` where nothing was ever answered.
    limit_ns: Option<u64>,
}

impl Patience {
    /// That with requests whose answers may take `timeout_ns`, and of which half were answered
    /// within the first and all within the second of `answered_ns`; `None` if none was.
    pub fn new(timeout_ns: u64, answered_ns: Option<(u64, u64)>) -> Self {
        let limit = |(median_ns, longest_ns): (u64, u64)| {
            let unusual_ns = median_ns.saturating_mul(MEDIANS).max(longest_ns);
            unusual_ns.min(timeout_ns)
        };
        Self {
            timeout_ns,
            limit_ns: answered_ns.map(limit),
        }
    }

    /// How many requests without an answer count as failed.
    pub fn failed(&self, of: &Overtaken) -> u64 {
        let under_way = of.waited_ns.len() as u64;
        let Some(limit_ns) = self.limit_ns else {
            let is_hang = of.silence_ns() >= self.timeout_ns.min(SILENCE_NS);
            return if is_hang { under_way + of.unsent } else { 0 };
        };
        let over = of.waited_ns.iter().filter(|&&ns| ns > limit_ns);
        over.count() as u64 + of.unsent_for(limit_ns)
    }
}

/// What one endpoint's requests in one window were left with at its end.
#[derive(Clone, Debug)]
pub struct Overtaken {
    window: Span,
    /// How long those under way had been due.
    waited_ns: Vec<u64>,
    /// When the first of them was due, and when the last of them was given up.
    under_way: Option<Span>,
    /// Those for which no connection became free.
    unsent: u64,
    /// When the last that was sent was due; those that were not were due after it.
    sent_until: Nanos,
}

impl Overtaken {
    /// Of a window in which nothing was sent yet and `unsent` requests never were.
    pub fn new(window: Span, unsent: u64) -> Self {
        Self {
            window,
            waited_ns: Vec::new(),
            under_way: None,
            unsent,
            sent_until: window.begin,
        }
    }

    /// Whether nothing is known to have been overtaken.
    pub fn is_empty(&self) -> bool {
        self.waited_ns.is_empty() && self.unsent == 0
    }

    /// Adds a request that was sent, or was to be.
    pub fn add(&mut self, sample: &SampleRef<'_>) {
        self.sent_until = self.sent_until.max(sample.scheduled());
        if sample.outcome() == Outcome::Unfinished {
            self.waited_ns.push(sample.latency_ns());
            let (due, given_up) = (sample.scheduled(), sample.done());
            let all = self.under_way.unwrap_or(Span::new(due, given_up));
            let all = Span::new(all.begin.min(due), all.end.max(given_up));
            self.under_way = Some(all);
        }
    }

    /// For how long at least something was due and nothing came.
    fn silence_ns(&self) -> u64 {
        let under_way_ns = self.under_way.map_or(0, Span::len_ns);
        let unsent_ns = match self.unsent {
            0 => 0,
            _ => self.window.end.since(self.sent_until),
        };
        under_way_ns.max(unsent_ns)
    }

    /// How many of those that were never sent had been due for longer than that when the window
    /// ended, were they due evenly.
    fn unsent_for(&self, ns: u64) -> u64 {
        let due_ns = self.window.end.since(self.sent_until);
        if due_ns == 0 {
            return 0;
        }
        let share = due_ns.saturating_sub(ns) as f64 / due_ns as f64;
        (self.unsent as f64 * share).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;
    use crate::samples::Samples;

    const MS: u64 = 1_000_000;
    const TIMEOUT_NS: u64 = 5 * SECOND;

    /// A window of ten seconds, with requests under way by when they were due and given up, in
    /// milliseconds after its begin, and one that was answered and due last.
    fn overtaken(under_way: &[(u64, u64)], sent_until_ms: u64, unsent: u64) -> Overtaken {
        let begin = Nanos::new(SECOND);
        let at = |ms: u64| begin.plus(ms * MS);
        let mut samples = vec![Sample {
            outcome: Outcome::Ok,
            done: at(sent_until_ms),
            ..Sample::due(at(sent_until_ms))
        }];
        samples.extend(under_way.iter().map(|&(due, given_up)| Sample {
            done: at(given_up),
            ..Sample::due(at(due))
        }));
        let mut of = Overtaken::new(Span::new(begin, at(10_000)), unsent);
        for sample in &Samples::from(samples) {
            of.add(&sample);
        }
        of
    }

    #[test]
    fn a_request_that_was_cut_off_did_not_fail_and_one_that_waited_did() {
        let patience = Patience::new(TIMEOUT_NS, Some((3 * MS, 40 * MS)));
        let cut_off = overtaken(&[(9_990, 10_000), (9_970, 10_000)], 9_960, 0);
        assert_eq!(patience.failed(&cut_off), 0);
        // Longer than ten medians, and not than the longest.
        assert_eq!(patience.failed(&overtaken(&[(9_965, 10_000)], 0, 0)), 0);
        let hung = overtaken(&[(9_990, 10_000), (9_900, 10_000), (20, 10_000)], 0, 0);
        assert_eq!(patience.failed(&hung), 2);
        // No longer than the timeout, whatever the median is.
        let slow = Patience::new(TIMEOUT_NS, Some((2 * SECOND, 3 * SECOND)));
        let both = overtaken(&[(4_900, 10_000), (5_100, 10_000)], 0, 0);
        assert_eq!(slow.failed(&both), 1);
    }

    #[test]
    fn requests_that_were_never_sent_were_due_evenly() {
        let patience = Patience::new(TIMEOUT_NS, Some((MS, 100 * MS)));
        assert_eq!(patience.failed(&overtaken(&[], 0, 1000)), 990);
        assert_eq!(patience.failed(&overtaken(&[], 9_900, 1000)), 0);
        // A backlog waits no longer than those that were served at last.
        let backlog = Patience::new(TIMEOUT_NS, Some((2 * SECOND, 4 * SECOND)));
        assert_eq!(backlog.failed(&overtaken(&[], 6_000, 500)), 0);
    }

    #[test]
    fn where_nothing_was_ever_answered_a_second_of_silence_is_a_hang() {
        let patience = Patience::new(TIMEOUT_NS, None);
        assert_eq!(patience.failed(&overtaken(&[(0, 800)], 0, 0)), 0);
        assert_eq!(
            patience.failed(&overtaken(&[(0, 1000), (900, 1000)], 0, 0)),
            2
        );
        assert_eq!(patience.failed(&overtaken(&[], 8_000, 7)), 7);
        let short = Patience::new(SECOND / 10, None);
        assert_eq!(short.failed(&overtaken(&[(0, 100)], 0, 0)), 1);
    }
}
