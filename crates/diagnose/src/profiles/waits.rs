//! Requests against dumps: how much of each was spent waiting for a lock.
//!
//! A dump is a sample of time: of the requests that are under way at its instant, as many wait for
//! a lock as goroutines that answer requests do. Which of them is not known, so each is given the
//! same part, and all are counted that may be under way, which makes the part a lower bound.

use slowpath_core::nanos::Span;
use slowpath_core::profiles::Dump;

use crate::case::{Case, EndpointCase};
use crate::verdict::Claim;

/// Fewer requests that were met by a dump say nothing of those that were not: of ten the part that
/// waits is known to within a third.
const MET_LEAST: usize = 10;

/// The dumps, and how much of the requests under way at each waits.
pub(super) struct Waits<'d> {
    dumps: &'d [Dump],
    /// For each dump the part of the requests under way that waits, from 0 to 1.
    parts: Vec<f64>,
    /// The median time between dumps.
    pub(super) between_ns: u64,
}

/// A request that a dump met.
pub(super) struct Met {
    pub(super) sample: u32,
    pub(super) slow: bool,
    /// The dumps, as positions.
    pub(super) dumps: std::ops::Range<usize>,
    /// The part of its time that it waited.
    pub(super) part: f64,
    span: Span,
}

impl<'d> Waits<'d> {
    /// Of dumps in order of time; `waiting` says how many goroutines wait in each.
    pub(super) fn of(case: &Case<'_>, dumps: &'d [Dump], waiting: impl Fn(usize) -> u64) -> Self {
        let samples = case.record.samples.iter();
        let spans = samples.filter_map(|s| Some(Span::new(s.sent()?, s.done())));
        let (mut begins, mut ends): (Vec<_>, Vec<_>) = spans.map(|s| (s.begin, s.end)).unzip();
        begins.sort_unstable();
        ends.sort_unstable();
        let part = |number: usize| {
            let span = dumps[number].span;
            let begun = begins.partition_point(|&begin| begin <= span.end);
            let ended = ends.partition_point(|&end| end < span.begin);
            let under_way = begun.saturating_sub(ended);
            if under_way == 0 {
                return 0.0;
            }
            (waiting(number) as f64 / under_way as f64).min(1.0)
        };
        let mut between: Vec<u64> = dumps
            .windows(2)
            .filter(|pair| pair[0].repeat == pair[1].repeat)
            .map(|pair| pair[1].span.begin.since(pair[0].span.begin))
            .collect();
        between.sort_unstable();
        Self {
            dumps,
            parts: (0..dumps.len()).map(part).collect(),
            between_ns: between.get(between.len() / 2).copied().unwrap_or(0),
        }
    }

    /// The requests of an endpoint that were under way at a dump, from before it was asked for
    /// until after it came. `counts` says which dumps count as waits.
    pub(super) fn met(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        counts: impl Fn(usize) -> bool,
    ) -> Vec<Met> {
        let requests = requests(endpoint).into_iter();
        let met = requests.filter_map(|sample| {
            let of = case.sample(sample);
            let span = Span::new(of.sent()?, of.done());
            let dumps = self.within(span);
            let waited: f64 = dumps
                .clone()
                .filter(|&d| counts(d))
                .map(|d| self.parts[d])
                .sum();
            (!dumps.is_empty()).then(|| Met {
                sample,
                slow: endpoint.split.slow.binary_search(&sample).is_ok(),
                part: waited / dumps.len() as f64,
                dumps,
                span,
            })
        });
        met.collect()
    }

    /// The dumps that lie within a span.
    fn within(&self, span: Span) -> std::ops::Range<usize> {
        let from = self.dumps.partition_point(|d| d.span.begin < span.begin);
        let rest = &self.dumps[from..];
        // One dump is asked for when the one before has come: ends are in order too.
        from..from + rest.partition_point(|dump| dump.span.end <= span.end)
    }

    /// What requests waited, as claims. Those that no dump met are given what the others waited,
    /// slow ones and others apart: a request is met the more surely the longer it takes, so that
    /// each of the met represents as many as its length makes it rare (Horvitz and Thompson 1952).
    pub(super) fn claims(
        &self,
        case: &Case<'_>,
        endpoint: &EndpointCase,
        met: &[Met],
    ) -> Vec<Claim> {
        let (of_slow, of_others) = (self.mean(met, true), self.mean(met, false));
        let mut claims = Vec::new();
        for sample in requests(endpoint) {
            let of = case.sample(sample);
            let Some(sent) = of.sent() else {
                continue;
            };
            let span = Span::new(sent, of.done());
            let part = match met.binary_search_by_key(&sample, |m| m.sample) {
                Ok(place) => met[place].part,
                Err(_) if endpoint.split.slow.binary_search(&sample).is_ok() => of_slow,
                Err(_) => of_others,
            };
            let length_ns = (span.len_ns() as f64 * part) as u64;
            if length_ns > 0 {
                let span = Span::new(sent, sent.plus(length_ns));
                claims.push(Claim { sample, span });
            }
        }
        claims
    }

    /// The mean part that requests waited, met or not; 0 if too few were met to estimate it.
    fn mean(&self, met: &[Met], slow: bool) -> f64 {
        let own = met.iter().filter(|m| m.slow == slow);
        let (mut n, mut waited, mut all) = (0, 0.0, 0.0);
        for m in own {
            let length_ns = m.span.len_ns().clamp(1, self.between_ns.max(1));
            let stands_for = self.between_ns as f64 / length_ns as f64;
            n += 1;
            waited += m.part * stands_for;
            all += stands_for;
        }
        if n < MET_LEAST { 0.0 } else { waited / all }
    }

    /// How much of the time in which slow requests were met they waited, and how much of all time
    /// such waits take.
    pub(super) fn shares(&self, met: &[Met], counts: impl Fn(usize) -> bool) -> (f64, f64) {
        let slow = met.iter().filter(|m| m.slow);
        let (waited, all) = slow.fold((0.0, 0.0), |(waited, all), m| {
            let n = m.dumps.len() as f64;
            (waited + m.part * n, all + n)
        });
        let covered = (0..self.dumps.len()).filter(|&d| counts(d)).count();
        let share = |of: f64, all: f64| if all > 0.0 { of / all } else { 0.0 };
        (
            share(waited, all),
            share(covered as f64, self.dumps.len() as f64),
        )
    }

    /// When waits ended that begin in time with a dump of this kind and go on over others of it:
    /// the first of the requests that were met in the last of these dumps was answered.
    pub(super) fn ends(&self, met: &[Met], counts: impl Fn(usize) -> bool) -> Vec<u64> {
        let mut first_end = vec![None; self.dumps.len()];
        for m in met.iter().filter(|m| m.part > 0.0) {
            let last = m.dumps.end - 1;
            let end = m.span.end.get();
            let known = first_end[last].get_or_insert(end);
            *known = end.min(*known);
        }
        let goes_on = |d: usize| d + 1 < self.dumps.len() && counts(d + 1);
        let last = (0..self.dumps.len()).filter(|&d| counts(d) && !goes_on(d));
        last.filter_map(|d| first_end[d]).collect()
    }
}

/// The requests of an endpoint with an answer, and the slow ones without; ascending.
fn requests(endpoint: &EndpointCase) -> Vec<u32> {
    let mut all = endpoint.completed.clone();
    all.extend(&endpoint.split.slow);
    all.sort_unstable();
    all.dedup();
    all
}
