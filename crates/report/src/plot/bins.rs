//! Time in bins: rates of counters without a point for every reading.

use slowpath_core::nanos::{Nanos, Span, scaled};
use slowpath_core::timeline::Series;

/// A stretch of time in bins of equal length.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    span: Span,
    count: usize,
}

impl Bins {
    /// At most `most` bins of at least `shortest_ns` over a stretch that is not empty.
    pub(crate) fn new(span: Span, most: usize, shortest_ns: u64) -> Self {
        let count = (span.len_ns() / shortest_ns.max(1)).clamp(1, most as u64) as usize;
        Self { span, count }
    }

    /// Number of bins.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Bin by bin, the seconds that windows which do not overlap cover.
    pub(crate) fn covered(&self, windows: &[Span]) -> Vec<f64> {
        let seconds = |bin: Span| {
            let covered_ns: u64 = windows.iter().map(|window| window.overlap_ns(bin)).sum();
            covered_ns as f64 / 1e9
        };
        (0..self.count).map(|bin| seconds(self.bin(bin))).collect()
    }

    /// The bin of an instant, if it lies inside.
    pub(crate) fn of(&self, at: Nanos) -> Option<usize> {
        let inside = at >= self.span.begin && at < self.span.end;
        inside.then(|| {
            let into_ns = at.since(self.span.begin);
            scaled(into_ns, self.count as u64, self.span.len_ns().max(1)) as usize
        })
    }

    /// Bin by bin, what several counters gained a second, together; `None` where none was read.
    /// A counter that fell was reset and counts from zero.
    pub(crate) fn rates<'a>(&self, series: impl Iterator<Item = &'a Series>) -> Vec<Option<f64>> {
        let mut gained = vec![0.0; self.count];
        let mut covered_ns = vec![0_u64; self.count];
        for series in series {
            let mut own_ns = vec![0_u64; self.count];
            for pair in series.points.windows(2) {
                let step = Span::new(pair[0].window.end, pair[1].window.end);
                let fell = pair[1].value < pair[0].value;
                let delta = if fell {
                    pair[1].value
                } else {
                    pair[1].value - pair[0].value
                };
                self.spread(step, delta, &mut gained, &mut own_ns);
            }
            for (covered, own) in covered_ns.iter_mut().zip(own_ns) {
                *covered = (*covered).max(own);
            }
        }
        let rate =
            |(gained, covered): (f64, u64)| (covered > 0).then(|| gained / (covered as f64 / 1e9));
        gained.into_iter().zip(covered_ns).map(rate).collect()
    }

    /// Gives each bin its part of a step.
    fn spread(&self, step: Span, delta: f64, gained: &mut [f64], covered_ns: &mut [u64]) {
        let Some(inside) = step.intersect(self.span) else {
            return;
        };
        let first = self.of(inside.begin).unwrap_or(0);
        for bin in first..self.count {
            let overlap = self.bin(bin).overlap_ns(inside);
            if self.bin(bin).begin >= inside.end {
                break;
            }
            gained[bin] += delta * (overlap as f64 / step.len_ns() as f64);
            covered_ns[bin] += overlap;
        }
    }

    fn bin(&self, bin: usize) -> Span {
        let edge = |at: usize| {
            let into = u128::from(self.span.len_ns()) * at as u128 / self.count as u128;
            self.span.begin.plus(into as u64)
        };
        Span::new(edge(bin), edge(bin + 1))
    }
}

#[cfg(test)]
mod tests {
    use slowpath_core::timeline::{Point, Subject};

    use super::*;

    fn series(points: &[(u64, f64)]) -> Series {
        let point = |&(ns, value): &(u64, f64)| {
            let at = Nanos::new(ns);
            Point {
                window: Span::new(at, at),
                value,
            }
        };
        let points = points.iter().map(point).collect();
        Series {
            signal: "x".into(),
            subject: Subject::Host,
            label: String::new(),
            points,
        }
    }

    #[test]
    fn rates_agree_with_the_series_and_missing_is_not_zero() {
        let span = Span::new(Nanos::new(1_000_000_000), Nanos::new(5_000_000_000));
        let bins = Bins::new(span, 4, 1);
        let one = series(&[
            (1_000_000_000, 0.0),
            (2_500_000_000, 3.0),
            (3_000_000_000, 3.0),
        ]);
        let rates = bins.rates([&one].into_iter());
        assert_eq!(rates, [Some(2.0), Some(1.0), None, None]);
        let both = bins.rates([&one, &one].into_iter());
        assert_eq!(both, [Some(4.0), Some(2.0), None, None]);
        let half = Span::new(Nanos::new(1_500_000_000), Nanos::new(3_000_000_000));
        assert_eq!(bins.covered(&[half]), [0.5, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn instants_outside_belong_to_no_bin() {
        let bins = Bins::new(Span::new(Nanos::new(10), Nanos::new(20)), 5, 1);
        assert_eq!(
            [9, 10, 19, 20].map(|ns| bins.of(Nanos::new(ns))),
            [None, Some(0), Some(4), None]
        );
        assert_eq!(
            Bins::new(Span::new(Nanos::new(10), Nanos::new(20)), 5, 100).count(),
            1
        );
    }
}
