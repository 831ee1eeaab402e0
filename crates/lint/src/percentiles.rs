//! Which percentiles a number of requests can carry.

use slowpath_core::stats::quantile::{needed, rank};

use crate::report::Supported;
use crate::wording::percentile;

/// The percentiles that reports show.
pub(crate) const SHOWN: [f64; 6] = [0.5, 0.9, 0.95, 0.98, 0.99, 0.999];

/// A percentile with fewer requests than this above it moves with each of them: its relative
/// error is more than a third (`1 / sqrt(10)`).
pub(crate) const STEADY_ABOVE: f64 = 10.0;

/// What so many requests a window, in so many windows, can say.
pub(crate) fn supported(requests: f64, repeats: u32) -> Supported {
    let n = requests.floor();
    let total = n * f64::from(repeats);
    let named = |p: Option<f64>| p.map(percentile);
    Supported {
        steady: named(SHOWN.into_iter().rfind(|p| n * (1.0 - p) >= STEADY_ABOVE)),
        determined: named(SHOWN.into_iter().rfind(|&p| needed(p) as f64 <= total)),
        is_maximum: named(SHOWN.into_iter().find(|&p| is_maximum(n, p))),
    }
}

/// Whether the percentile of so many requests is the slowest of them.
pub(crate) fn is_maximum(requests: f64, p: f64) -> bool {
    let n = requests.floor() as u64;
    n > 0 && rank(n, p) == n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_requests_make_the_tail_the_maximum() {
        // Below 100 requests p99 is the slowest, below 20 p95 is too.
        assert!(is_maximum(99.0, 0.99) && !is_maximum(100.0, 0.99));
        assert!(is_maximum(19.0, 0.95) && !is_maximum(20.0, 0.95));
        let few = supported(25.0, 1);
        assert_eq!(few.steady.as_deref(), Some("p50"));
        assert_eq!(few.is_maximum.as_deref(), Some("p98"));
        assert_eq!(few.determined.as_deref(), Some("p50"));
    }

    #[test]
    fn repeats_determine_more_and_do_not_steady_a_window() {
        let many = supported(200.0, 5);
        assert_eq!(many.steady.as_deref(), Some("p95"));
        assert_eq!(many.determined.as_deref(), Some("p99"));
        assert_eq!(supported(5.0, 1).steady, None);
    }
}
