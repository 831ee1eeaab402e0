//! Whether the target computes while requests wait.
//!
//! The target's CPU time is known for all of its requests together. Divided by the number of those
//! that wait it is the most that each can have had; what a kind of request really had shows in how
//! the target's running time follows the number of them under way.

use slowpath_core::nanos::{MILLISECOND, Span};
use slowpath_core::signal::THREAD_RUN;
use slowpath_core::timeline::Series;

use crate::case::Case;

/// Stretches in which running time is compared with waiting: two readings at 10 Hz in each.
const STEP_NS: u64 = 200 * MILLISECOND;
/// Fewer stretches than this say nothing.
const STEPS_FEWEST: usize = 30;
/// What the regression estimates: two slopes and a level.
const PARAMETERS: usize = 3;
/// Standard errors on which an upper end stands: 95 % of the truth lie below and above together.
const ERRORS: f64 = 2.0;

/// What the target's CPU time says of requests that wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Computing {
    /// The most CPU time that each of them can have had.
    pub(crate) most_ns: f64,
    /// The most CPUs that the target uses more for each more of them that waits: the upper end of
    /// a slope of the regression of its running time, over stretches of time, on the requests that
    /// wait and on all others. `None` without threads' times or where the two cannot be distinguished.
    pub(crate) slope_high: Option<f64>,
}

/// Compares the target's CPU time with waits; `None` if it cannot be seen or no request waits.
pub(crate) fn computing(case: &Case<'_>, waits: &[(u32, Span)]) -> Option<Computing> {
    if waits.is_empty() {
        return None;
    }
    Some(Computing {
        most_ns: case.target_cpu_ns()? / waits.len() as f64,
        slope_high: slope_high(case, waits),
    })
}

fn slope_high(case: &Case<'_>, waits: &[(u32, Span)]) -> Option<f64> {
    let threads: Vec<&Series> = case.timeline().all(&THREAD_RUN).collect();
    let steps = steps(case);
    let spans: Vec<Span> = waits.iter().map(|&(_, span)| span).collect();
    let waiting = under_way(&steps, &spans);
    let is_other = |i: &u32| {
        waits
            .binary_search_by_key(i, |&(sample, _)| sample)
            .is_err()
    };
    let others: Vec<Span> = (0..case.record.samples.len() as u32)
        .filter(is_other)
        .map(|i| case.sample(i).span())
        .collect();
    let others = under_way(&steps, &others);
    let ran = |step: Span| {
        let parts = threads.iter().filter_map(|series| series.increase(step));
        Some(parts.reduce(|a, b| a + b)? / step.len_ns() as f64)
    };
    let rows: Option<Vec<[f64; 3]>> = steps
        .iter()
        .zip(waiting.iter().zip(&others))
        .map(|(&step, (&waiting, &others))| Some([waiting, others, ran(step)?]))
        .collect();
    partial_slope_high(&rows?)
}

/// Upper end of the slope of the third on the first, the second held (least squares).
fn partial_slope_high(rows: &[[f64; 3]]) -> Option<f64> {
    if rows.len() < STEPS_FEWEST {
        return None;
    }
    let of = |a: usize, b: usize| {
        let pairs: Vec<(f64, f64)> = rows.iter().map(|row| (row[a], row[b])).collect();
        moments(&pairs).1
    };
    let (xx, xz, zz) = (of(0, 0), of(0, 1), of(1, 1));
    let (xy, zy, yy) = (of(0, 2), of(1, 2), of(2, 2));
    // What is left of the first, and of the third, once the second has explained its part.
    let explained = |a: f64, b: f64| if zz > 0.0 { a * b / zz } else { 0.0 };
    let left = xx - explained(xz, xz);
    let shared = xy - explained(xz, zy);
    let slope = (left > 0.0).then(|| shared / left)?;
    let residual = (yy - explained(zy, zy) - slope * shared).max(0.0);
    let error = (residual / left / (rows.len() - PARAMETERS) as f64).sqrt();
    Some(slope + ERRORS * error)
}

/// Stretches of the measured windows.
fn steps(case: &Case<'_>) -> Vec<Span> {
    let of = |window: &Span| {
        let begin = window.begin;
        (0..window.len_ns() / STEP_NS).map(move |i| {
            let begin = begin.plus(i * STEP_NS);
            Span::new(begin, begin.plus(STEP_NS))
        })
    };
    case.windows.iter().flat_map(of).collect()
}

/// The mean number of spans under way in each of the steps, which are ascending.
fn under_way(steps: &[Span], spans: &[Span]) -> Vec<f64> {
    let mut sums = vec![0_u64; steps.len()];
    for &span in spans {
        let from = steps.partition_point(|step| step.end <= span.begin);
        let touched = steps[from..].iter().zip(&mut sums[from..]);
        for (step, sum) in touched.take_while(|(step, _)| step.begin < span.end) {
            *sum += step.overlap_ns(span);
        }
    }
    sums.iter()
        .map(|&sum| sum as f64 / STEP_NS as f64)
        .collect()
}

/// Variance of the first, covariance of both, and both means.
pub(crate) fn moments(pairs: &[(f64, f64)]) -> (f64, f64, (f64, f64)) {
    let n = pairs.len().max(1) as f64;
    let mean_x = pairs.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = pairs.iter().map(|p| p.1).sum::<f64>() / n;
    let part = |p: &(f64, f64)| ((p.0 - mean_x).powi(2), (p.0 - mean_x) * (p.1 - mean_y));
    let (variance, covariance) = pairs
        .iter()
        .map(part)
        .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    (variance / n, covariance / n, (mean_x, mean_y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_is_told_from_that_of_others() {
        let row = |i: u32| {
            let (mine, others) = (f64::from(i % 7), f64::from(i % 5));
            [mine, others, 0.1 * mine + 0.9 * others]
        };
        let rows: Vec<[f64; 3]> = (0..70).map(row).collect();
        let slope = partial_slope_high(&rows).unwrap();
        assert!((slope - 0.1).abs() < 1e-6, "{slope}");
        assert_eq!(partial_slope_high(&rows[..20]), None, "too few");
        let alike: Vec<[f64; 3]> = rows.iter().map(|row| [1.0, row[1], row[2]]).collect();
        assert_eq!(partial_slope_high(&alike), None, "the number never varies");
    }

    #[test]
    fn moments_are_those_of_the_pairs() {
        let pairs = [(0.0, 1.0), (2.0, 5.0)];
        assert_eq!(moments(&pairs), (1.0, 2.0, (1.0, 3.0)));
        assert_eq!(moments(&[]), (0.0, 0.0, (0.0, 0.0)));
    }
}
