//! A frame of reference: a set of requests, the excess of each, and what hangs together.

use slowpath_core::nanos::{MILLISECOND, Nanos, Span, scaled};
use slowpath_core::record::RunRecord;
use slowpath_core::stats::episodes::episodes;
use slowpath_core::stats::quantile::type_1;
use slowpath_core::stats::selection::Selection;

use crate::slow::Split;

/// From this share of slow requests on, their spans touch and merge into one although they are
/// not one event; stretches of time are then the unit, as for a floor.
const USUAL: f64 = 0.2;
/// The same where the merged spans cover this share of the time: slow requests of a second that
/// come four a second are always under way, and still are not one event.
const COVERED: f64 = 0.5;

/// The requests around the median: the middle half.
const CENTRAL: (f64, f64) = (0.25, 0.75);

/// A floor closer to the wire than this is not worth a name: wake-ups and a few system calls on a
/// shared machine take as long.
pub(crate) const FLOOR_LEAST_NS: u64 = MILLISECOND;

/// Stretches of time that a repeat is cut into: as many as batches of an interval.
const STRETCHES: u64 = 30;
/// No stretch is shorter than two readings of the probes.
const STRETCH_LEAST_NS: u64 = 200 * MILLISECOND;

/// Requests whose excess over a reference is to be explained.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The requests: positions in the record's samples, ascending.
    pub requests: Vec<u32>,
    /// The latency that they are compared with: the fast class for a tail, the wire for a floor.
    pub reference_ns: u64,
    /// For each request, the cluster it belongs to: requests of one episode (tail) or one stretch
    /// of time (floor) are one observation.
    pub cluster: Vec<u32>,
    /// Number of clusters.
    pub clusters: u32,
    /// Where the clusters lie in time, ascending; empty for a floor, which is everywhere.
    pub episodes: Vec<Span>,
    /// Sum of the excess over all requests.
    pub excess_ns: f64,
}

impl Frame {
    /// The slow requests against the fast class (`excess = latency - median of the fast class`).
    pub fn tail(record: &RunRecord, split: &Split, windows: &[Span]) -> Option<Self> {
        let reference_ns = split.fast_ns?;
        if split.slow.is_empty() || windows.is_empty() {
            return None;
        }
        let spans = split
            .slow
            .iter()
            .map(|&i| record.samples.at(i as usize).span());
        let bounds: Vec<(u64, u64)> = spans.map(|s| (s.begin.get(), s.end.get())).collect();
        let merged = episodes(&bounds);
        let spans: Vec<Span> = merged
            .episodes
            .iter()
            .map(|e| Span::new(Nanos::new(e.begin_ns), Nanos::new(e.end_ns)))
            .collect();
        let covered: u64 = spans.iter().map(|s| s.len_ns()).sum();
        let measured: u64 = windows.iter().map(|w| w.len_ns()).sum();
        let usual = split.slow.len() as f64 >= USUAL * split.sorted_ns.len() as f64
            || covered as f64 >= COVERED * measured as f64;
        let (cluster, clusters) = if usual {
            by_time(record, &split.slow, windows)
        } else {
            (merged.of, merged.episodes.len() as u32)
        };
        Some(Self::build(
            record,
            split.slow.clone(),
            reference_ns,
            cluster,
            clusters,
            spans,
        ))
    }

    /// The requests around the median against the wire: a floor is what every request has, and
    /// the slowest quarter would drown it in whatever else happens to them. `requests` are the
    /// completed ones with their latencies.
    pub fn floor(
        record: &RunRecord,
        requests: (&[u32], &[u64]),
        sorted_ns: &[u64],
        wire_ns: u64,
        windows: &[Span],
    ) -> Option<Self> {
        let median = type_1(sorted_ns, 0.5)?;
        if windows.is_empty() || median.saturating_sub(wire_ns) < FLOOR_LEAST_NS {
            return None;
        }
        let (central, cluster, clusters) = central(record, requests, windows);
        Some(Self::build(
            record,
            central,
            wire_ns,
            cluster,
            clusters,
            Vec::new(),
        ))
    }

    fn build(
        record: &RunRecord,
        requests: Vec<u32>,
        reference_ns: u64,
        cluster: Vec<u32>,
        clusters: u32,
        episodes: Vec<Span>,
    ) -> Self {
        let mut frame = Self {
            requests,
            reference_ns,
            cluster,
            clusters,
            episodes,
            excess_ns: 0.0,
        };
        let all = 0..frame.requests.len();
        frame.excess_ns = all
            .map(|position| frame.excess_of_ns(record, position) as f64)
            .sum();
        frame
    }

    /// The excess of the request at a position of the frame.
    pub fn excess_of_ns(&self, record: &RunRecord, position: usize) -> u64 {
        let sample = record.samples.at(self.requests[position] as usize);
        sample.latency_ns().saturating_sub(self.reference_ns)
    }

    /// The position in the frame of a request, if it belongs to it.
    pub fn position(&self, sample: u32) -> Option<usize> {
        self.requests.binary_search(&sample).ok()
    }
}

/// For each request, the stretch of time it was scheduled in, and how many stretches there are:
/// [`STRETCHES`] a repeat, or as many of [`STRETCH_LEAST_NS`] as fit.
fn by_time(record: &RunRecord, requests: &[u32], windows: &[Span]) -> (Vec<u32>, u32) {
    let mut firsts = vec![0];
    for window in windows {
        let fit = (window.len_ns() / STRETCH_LEAST_NS).clamp(1, STRETCHES);
        firsts.push(firsts.last().map_or(0, |last| last + fit as u32));
    }
    let of = |&i: &u32| {
        let sample = record.samples.at(i as usize);
        let repeat = usize::from(sample.repeat()).min(windows.len() - 1);
        let (first, count) = (firsts[repeat], firsts[repeat + 1] - firsts[repeat]);
        let window = windows[repeat];
        let into_ns = sample.scheduled().since(window.begin);
        let stretch = scaled(into_ns, count.into(), window.len_ns().max(1));
        first + stretch.min(u64::from(count - 1)) as u32
    };
    (
        requests.iter().map(of).collect(),
        *firsts.last().unwrap_or(&0),
    )
}

/// The requests around the median of each stretch of time, in the order given, with their
/// stretches and the number of these: a latency that grows all the time has its overall median in a
/// moment.
fn central(
    record: &RunRecord,
    (completed, latencies_ns): (&[u32], &[u64]),
    windows: &[Span],
) -> (Vec<u32>, Vec<u32>, u32) {
    let (stretch, stretches) = by_time(record, completed, windows);
    let mut counts = vec![0; stretches as usize];
    for &stretch in &stretch {
        counts[stretch as usize] += 1;
    }
    let mut latencies: Vec<Vec<u64>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (&latency, &stretch) in latencies_ns.iter().zip(&stretch) {
        latencies[stretch as usize].push(latency);
    }
    let bounds: Vec<(u64, u64)> = latencies
        .into_iter()
        .map(|latencies| {
            let mut latencies = Selection::new(latencies);
            let mut at = |p| latencies.type_1(p).unwrap_or_default();
            (at(CENTRAL.0), at(CENTRAL.1))
        })
        .collect();
    let (mut central, mut cluster) = (Vec::new(), Vec::new());
    for ((&i, latency), &stretch) in completed.iter().zip(latencies_ns).zip(&stretch) {
        let (low, high) = bounds[stretch as usize];
        if (low..=high).contains(latency) {
            central.push(i);
            cluster.push(stretch);
        }
    }
    (central, cluster, stretches)
}
