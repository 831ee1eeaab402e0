//! Whether the time that requests take is that of the replies which they wait for.

use std::collections::BTreeSet;

use slowpath_core::nanos::Span;

/// What share of the time of requests lies in exchanges with a service that began and ended within them:
/// of each request the `calls` longest that follow each other, and each exchange in one request at the
/// most. The longest requests choose first, so that it is rather too much than too little.
pub fn accounted(requests: &[Span], exchanges: &[Span], calls: u32) -> f64 {
    let mut sorted: Vec<Span> = exchanges.to_vec();
    sorted.sort_unstable_by_key(|span| span.begin);
    let mut longest: Vec<Span> = requests.to_vec();
    longest.sort_unstable_by_key(|span| std::cmp::Reverse(span.len_ns()));
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let (mut whole_ns, mut inside_ns) = (0, 0);
    for request in longest {
        whole_ns += request.len_ns();
        let first = sorted.partition_point(|span| span.begin < request.begin);
        let begun = sorted.iter().enumerate().skip(first);
        let begun = begun.take_while(|(_, span)| span.begin < request.end);
        let mut within: Vec<(usize, Span)> = begun
            .filter(|(at, span)| span.end <= request.end && !used.contains(at))
            .map(|(at, span)| (at, *span))
            .collect();
        within.sort_by_key(|(_, span)| std::cmp::Reverse(span.len_ns()));
        let mut own: Vec<Span> = Vec::new();
        for (at, span) in within {
            if own.len() < calls.max(1) as usize
                && own.iter().all(|other| other.intersect(span).is_none())
            {
                own.push(span);
                used.insert(at);
                inside_ns += span.len_ns();
            }
        }
    }
    inside_ns as f64 / whole_ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use slowpath_core::Nanos;

    use super::*;

    fn span(begin: u64, end: u64) -> Span {
        // No instant is zero.
        Span::new(Nanos::new(1_000 + begin), Nanos::new(1_000 + end))
    }

    #[test]
    fn a_slow_reply_accounts_for_a_slow_request() {
        let share = accounted(&[span(100, 200)], &[span(105, 195), span(90, 300)], 1);
        assert!((share - 0.9).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_request_that_calls_once_is_not_slow_by_that() {
        // It sleeps for 60 of 61, and asks for one.
        let requests: Vec<Span> = (0..50).map(|n| span(n * 100, n * 100 + 61)).collect();
        let exchanges: Vec<Span> = (0..50).map(|n| span(n * 100 + 60, n * 100 + 61)).collect();
        assert!(accounted(&requests, &exchanges, 1) < 0.02);
        assert!(accounted(&requests, &[], 1) <= 0.0);
        assert!(accounted(&[], &exchanges, 1) <= 0.0);
    }

    #[test]
    fn many_replies_in_a_row_are_added_up() {
        let replies: Vec<Span> = (0..20).map(|n| span(n * 10, n * 10 + 9)).collect();
        let share = accounted(&[span(0, 200)], &replies, 20);
        assert!((share - 0.9).abs() < 1e-9, "{share}");
        let share = accounted(&[span(0, 200)], &replies, 1);
        assert!(share < 0.05, "one of them is little: {share}");
    }

    #[test]
    fn replies_of_others_under_way_are_counted_once() {
        // Ten requests at a time, of which one waits for a reply.
        let requests: Vec<Span> = (0..10).map(|n| span(n, 100 + n)).collect();
        let share = accounted(&requests, &[span(20, 90)], 1);
        assert!((share - 0.07).abs() < 1e-9, "{share}");
        // Side by side they are one in a row.
        let share = accounted(&[span(0, 100)], &[span(10, 60), span(20, 70)], 5);
        assert!((share - 0.5).abs() < 1e-9, "{share}");
    }
}
