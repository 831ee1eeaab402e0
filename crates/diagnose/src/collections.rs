//! How much of what slow requests take longer lies in pauses of garbage collection, by the log of the
//! target's own runtime.
//!
//! It is a lead and no cause: that a request lay in a pause does not say that it waited for that one.

use std::collections::{BTreeMap, BTreeSet};

use slowpath_core::gc_log::{Collector, GcLine};
use slowpath_core::nanos::{Nanos, SECOND, Span};
use slowpath_core::stats::quantile::type_1;

use crate::case::{Case, EndpointCase};
use crate::diagnosis::EndpointPauses;
use crate::figures::{millis, round, share};

/// A stamp that is this much before the one before it is another process's: a repeat has begun.
const RESTART_NS: u64 = SECOND / 10;

/// The share of lines that are taken to have been read at once: their scatter is how well the begin
/// of the process is known.
const AT_ONCE: f64 = 0.1;

/// Chance is the mean over so many ways of shifting the pauses against the requests.
const SHIFTS: u64 = 19;

/// A test shifts them in so many ways: the least probability that it can find is 1 in 200.
const TEST_SHIFTS: u64 = 199;
/// … of so many slow requests at most, evenly chosen: more show the same.
const TEST_REQUESTS: usize = 5_000;

/// The pauses of one repeat after the other, ascending and disjoint.
#[derive(Debug)]
pub(crate) struct Pauses {
    collector: Collector,
    spans: Vec<Span>,
    error_ns: u64,
}

impl Pauses {
    /// What the target's log reports; `None` if it reports no pause, or if several processes write
    /// into it in a way that does not say which.
    pub(crate) fn of(case: &Case<'_>) -> Option<Self> {
        let mut spans = Vec::new();
        let mut error_ns = 0;
        let mut collector = None;
        for process in processes(&case.record.collections.lines)? {
            let (begin, own_error_ns) = begin(&process);
            error_ns = error_ns.max(own_error_ns);
            collector = collector.or(process.first().map(|(_, line)| line.collector));
            spans.extend(process.iter().flat_map(|(_, line)| line.spans(begin)));
        }
        Some(Self {
            collector: collector?,
            spans: disjoint(spans),
            error_ns,
        })
    }

    /// When the program stood still, ascending and disjoint.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Which collector wrote the log.
    pub(crate) const fn collector(&self) -> Collector {
        self.collector
    }

    /// By how much the pauses may lie elsewhere.
    pub(crate) const fn error_ns(&self) -> u64 {
        self.error_ns
    }

    /// How long of a stretch of time the program stood still.
    fn overlap_ns(&self, of: Span) -> u64 {
        let first = self.spans.partition_point(|span| span.end <= of.begin);
        let within = self.spans[first..]
            .iter()
            .take_while(|span| span.begin < of.end);
        within.map(|span| span.overlap_ns(of)).sum()
    }
}

/// The lines of each process, in order. `None` if lines that lie within each other cannot be distinguished
/// from each other.
fn processes(lines: &[(Nanos, GcLine)]) -> Option<Vec<Vec<(Nanos, GcLine)>>> {
    let mut open: BTreeMap<(Collector, u64), Vec<(Nanos, GcLine)>> = BTreeMap::new();
    let mut all = Vec::new();
    for &(read, line) in lines {
        let own = open.entry((line.collector, line.heap)).or_default();
        if let Some((_, last)) = own.last() {
            if line.end_ns.saturating_add(RESTART_NS) < last.end_ns && line.number <= last.number {
                all.push(std::mem::take(own));
            } else if line.number < last.number {
                // Two counters that both go on.
                return None;
            }
        }
        own.push((read, line));
    }
    all.extend(open.into_values());
    Some(all)
}

/// When a process began, and by how much that may be off: no line is read before it is written, so
/// that the one that was read soonest is the best estimate. What a program keeps back before it writes makes
/// the others late.
fn begin(process: &[(Nanos, GcLine)]) -> (Nanos, u64) {
    let begun = |(read, line): &(Nanos, GcLine)| read.minus(line.end_ns).get();
    let mut begins: Vec<u64> = process.iter().map(begun).collect();
    begins.sort_unstable();
    let first = begins.first().copied().unwrap_or_default();
    let at_once = type_1(&begins, AT_ONCE).unwrap_or(first);
    let resolution_ns = process.iter().map(|(_, line)| line.resolution_ns).max();
    let error_ns = at_once - first + resolution_ns.unwrap_or_default();
    (Nanos::new(first), error_ns)
}

/// Stretches of time, ascending, with those that touch made one.
fn disjoint(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut out: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match out.last_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

/// What pauses have of an endpoint's slow requests; `None` if the log reports none.
pub(crate) fn figures(case: &Case<'_>, endpoint: &EndpointCase) -> Option<EndpointPauses> {
    let pauses = case.pauses()?;
    let in_windows = |span: &&Span| case.windows.iter().any(|w| w.overlap_ns(**span) > 0);
    let own: Vec<&Span> = pauses.spans.iter().filter(in_windows).collect();
    let mut lengths: Vec<u64> = own.iter().map(|span| span.len_ns()).collect();
    lengths.sort_unstable();
    let fast_ns = endpoint.split.fast_ns?;
    let (mut met, mut excess_ns, mut slow) = (0, 0, 0);
    let mut shifted = vec![0; SHIFTS as usize + 1];
    for &position in &endpoint.split.slow {
        let sample = case.sample(position);
        let window = case.windows.get(usize::from(sample.repeat()))?;
        let own_excess_ns = sample.latency_ns().saturating_sub(fast_ns);
        let span = Span::new(sample.scheduled(), sample.done());
        slow += 1;
        excess_ns += own_excess_ns;
        met += u64::from(pauses.overlap_ns(span) > 0);
        for (shift, sum_ns) in (0..).zip(&mut shifted) {
            let moved = around(span, window, (shift, SHIFTS));
            *sum_ns += pauses.overlap_ns(moved).min(own_excess_ns);
        }
    }
    let of_excess = |ns: f64| (excess_ns > 0).then(|| share(ns / excess_ns as f64));
    let by_chance = shifted[1..].iter().sum::<u64>() as f64 / SHIFTS as f64;
    Some(EndpointPauses {
        log: pauses.collector.name().to_owned(),
        pauses: own.len() as u64,
        median_ms: type_1(&lengths, 0.5).map(|ns| millis(ns as f64)),
        max_ms: lengths.last().map(|&ns| millis(ns as f64)),
        clock_error_ms: round(pauses.error_ns as f64 / 1e6, 1e3),
        slow,
        met,
        excess_share: of_excess(shifted[0] as f64),
        chance_share: of_excess(by_chance),
        log_cut: case.record.collections.cut,
    })
}

/// Slow requests compared with pauses, and with the same pauses shifted around the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Alignment {
    /// How long slow requests were in pauses, of what they took longer than the fast ones, as a
    /// share of that.
    pub(crate) share: f64,
    /// The same by chance, in the mean.
    pub(crate) chance: f64,
    /// How often a shift has as much.
    pub(crate) p: f64,
    /// The share of the episodes of slow requests that meet a pause.
    pub(crate) met: f64,
}

/// Holds an endpoint's slow requests against pauses; `None` if none is slow.
pub(crate) fn alignment(
    case: &Case<'_>,
    endpoint: &EndpointCase,
    pauses: &Pauses,
) -> Option<Alignment> {
    let tail = endpoint.tail.as_ref()?;
    let fast_ns = endpoint.split.fast_ns?;
    let every = tail.requests.len().div_ceil(TEST_REQUESTS).max(1);
    let mut sums_ns = vec![0_u64; TEST_SHIFTS as usize + 1];
    let mut excess_ns = 0;
    for &position in tail.requests.iter().step_by(every) {
        let sample = case.sample(position);
        let window = case.windows.get(usize::from(sample.repeat()))?;
        let own_ns = sample.latency_ns().saturating_sub(fast_ns);
        excess_ns += own_ns;
        for (shift, sum_ns) in (0..).zip(&mut sums_ns) {
            let moved = around(sample.span(), window, (shift, TEST_SHIFTS));
            *sum_ns += pauses.overlap_ns(moved).min(own_ns);
        }
    }
    let (own, shifted) = sums_ns.split_first()?;
    let as_much = shifted.iter().filter(|&sum| sum >= own).count();
    let of_excess = |ns: f64| ns / excess_ns.max(1) as f64;
    let meets = |&i: &usize| pauses.overlap_ns(case.sample(tail.requests[i]).span()) > 0;
    let meeting = (0..tail.requests.len()).filter(meets);
    let met: BTreeSet<u32> = meeting.map(|i| tail.cluster[i]).collect();
    Some(Alignment {
        share: of_excess(*own as f64),
        chance: of_excess(shifted.iter().sum::<u64>() as f64 / TEST_SHIFTS as f64),
        p: (as_much + 1) as f64 / (TEST_SHIFTS + 1) as f64,
        met: met.len() as f64 / f64::from(tail.clusters.max(1)),
    })
}

/// A request, moved by a part of its window, from the end of it to its begin again.
fn around(span: Span, window: &Span, (shift, shifts): (u64, u64)) -> Span {
    let length_ns = window.len_ns().max(1);
    let offset_ns = span.begin.since(window.begin) + length_ns / (shifts + 1) * shift;
    let begin = window.begin.plus(offset_ns % length_ns);
    if shift == 0 {
        return span;
    }
    Span::new(begin, begin.plus(span.len_ns()))
}

#[cfg(test)]
mod tests {
    use slowpath_core::gc_log::parse;

    use super::*;

    /// Lines of a process that began at `begin_ms`, each read `late_ms` after it was written.
    fn go(begin_ms: u64, lines: &[(u64, u64, u64)]) -> Vec<(Nanos, GcLine)> {
        let one = |&(number, at_ms, late_ms): &(u64, u64, u64)| {
            let text = format!(
                "gc {number} @{:.3}s 1%: 2+3+1 ms clock, ",
                at_ms as f64 / 1e3
            );
            let read = Nanos::new((begin_ms + at_ms + 6 + late_ms) * 1_000_000);
            (read, parse(&text).unwrap())
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn the_line_that_was_read_soonest_tells_when_the_process_began() {
        let lines = go(5000, &[(1, 100, 40), (2, 200, 0), (3, 300, 9)]);
        let (begun, error_ns) = begin(&lines);
        assert_eq!((begun.get(), error_ns), (5_000_000_000, 1_000_000));
        let late: Vec<(u64, u64, u64)> = (1..=20).map(|n| (n, n * 100, n * 3)).collect();
        let (begun, error_ns) = begin(&go(5000, &late));
        assert_eq!((begun.get(), error_ns), (5_003_000_000, 4_000_000));
    }

    #[test]
    fn processes_are_parted_where_one_begins_anew_and_refused_where_they_mix() {
        let mut lines = go(5000, &[(1, 100, 0), (2, 900, 0)]);
        lines.extend(go(9000, &[(1, 120, 0), (2, 130, 0)]));
        let sizes =
            |lines: &[_]| processes(lines).map(|all| all.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(sizes(&lines), Some(vec![2, 2]));
        let mixed = go(5000, &[(7, 100, 0), (3, 110, 0), (8, 120, 0)]);
        assert_eq!(sizes(&mixed), None);
        assert_eq!(sizes(&[]), Some(vec![]));
    }

    #[test]
    fn a_moved_request_stays_within_its_window() {
        let at = |ms: u64| Nanos::new(ms * 1_000_000);
        let window = Span::new(at(100), at(300));
        let request = Span::new(at(290), at(310));
        assert_eq!(around(request, &window, (0, SHIFTS)), request);
        for shift in 1..=SHIFTS {
            let moved = around(request, &window, (shift, SHIFTS));
            assert!(moved.begin >= window.begin && moved.begin < window.end);
            assert_eq!(moved.len_ns(), request.len_ns());
        }
    }
}
