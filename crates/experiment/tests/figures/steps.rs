//! What is said of two sides that were read in steps.

use slowpath_core::figures::Unit;
use slowpath_experiment::compare::Verdict;

use crate::comparing::{held, of};
use crate::made::{latencies, row, run};

/// Repeats that agree to the last digit were read as finely as that, and no better.
#[test]
fn equal_repeats_are_as_uncertain_as_they_were_read() {
    // On a clock of 1 ms, as the other rows show; 5 % may be claimed.
    const OTHERS: [f64; 6] = [31.0, 53.0, 87.0, 131.0, 210.0, 340.0];
    let on_clock = |at: usize, values: &[f64]| {
        latencies(at, &[("search.p50", values), ("other.p50", &OTHERS)])
    };
    let judged = |a: &[f64], b: &[f64]| {
        let found = held(vec![on_clock(0, a)], vec![on_clock(1, b)]);
        of(&found, "search.p50").clone()
    };
    for (a, b, expected) in [
        (12.0, 12.0, Verdict::CannotTell),
        (12.0, 13.0, Verdict::CannotTell),
        (12.0, 16.0, Verdict::Worse),
        (16.0, 12.0, Verdict::Better),
        (120.0, 120.0, Verdict::Same),
        (120.0, 121.0, Verdict::Same),
        (120.0, 124.0, Verdict::CannotTell),
        (120.0, 126.5, Verdict::CannotTell),
        (120.0, 129.0, Verdict::Worse),
        (1.0, 1.0, Verdict::CannotTell),
    ] {
        let found = judged(&[a; 5], &[b; 5]);
        assert_eq!(found.verdict, expected, "{a} and {b}: {found:?}");
        let is_told = found.because.contains("a finer clock");
        assert_eq!(
            is_told,
            expected == Verdict::CannotTell,
            "{a} and {b}: {found:?}"
        );
        let ratio = found.ratio.unwrap();
        assert!(ratio.low.unwrap() < b / a && b / a < ratio.high.unwrap_or(f64::INFINITY));
    }
    // What scatters on the other side is off by that, and by the steps of the side that does not.
    let found = judged(&[12.0; 5], &[13.0, 13.0, 14.0, 13.0, 14.0]);
    assert_eq!(found.verdict, Verdict::CannotTell, "{found:?}");
    // Enough equal counts are exact.
    let counted = |at: usize, n: usize| {
        let mut run = run(at);
        run.rows
            .push(row("bench", "allocs", Unit::Count, &vec![34.0; n]));
        run
    };
    for (n, expected) in [(3, Verdict::CannotTell), (5, Verdict::Same)] {
        let found = held(vec![counted(0, n)], vec![counted(1, n)]);
        let allocs = of(&found, "bench.allocs");
        let needs = (n < 5).then_some(5);
        assert_eq!(
            (allocs.verdict, allocs.needs),
            (expected, needs),
            "{allocs:?}"
        );
    }
}
