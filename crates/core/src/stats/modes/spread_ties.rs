//! Undoes the rounding of a coarse timer before a density is estimated.

/// Values are taken for rounded if at most one in this many is distinct.
const TIES_PER_VALUE: usize = 3;

/// The ascending logarithms of an ascending, non-empty sample.
///
/// Where a timer rounded the sample, the samples of each of its steps are spread evenly over the
/// step. Evenly and not at random: the result does not depend on a seed, and the spreading adds
/// no noise of its own to the density.
pub(in crate::stats) fn logarithms(sorted: &[u64]) -> Vec<f64> {
    let step = quantum(sorted).unwrap_or(0) as f64;
    let mut logs = Vec::with_capacity(sorted.len());
    for ties in sorted.chunk_by(|left, right| left == right) {
        let centre = ties[0] as f64;
        for place in 0..ties.len() {
            let within = (place as f64 + 0.5) / ties.len() as f64 - 0.5;
            // A step around zero has no negative half.
            let value = (centre + step * within).abs();
            logs.push(value.max(1.0).ln());
        }
    }
    // Steps overlap where single values lie between them.
    logs.sort_unstable_by(f64::total_cmp);
    logs
}

/// The step of the timer, if the sample looks rounded: the greatest common divisor of the gaps
/// between values that occur more than once. Values that occur once, like the exact length of a
/// timeout among rounded latencies, need not lie on the grid.
fn quantum(sorted: &[u64]) -> Option<u64> {
    let groups = || sorted.chunk_by(|left, right| left == right);
    if groups().count() * TIES_PER_VALUE > sorted.len() {
        return None;
    }
    let mut repeated = groups().filter(|ties| ties.len() > 1).map(|ties| ties[0]);
    let mut previous = repeated.next()?;
    let mut step = 0;
    for value in repeated {
        step = greatest_common_divisor(step, value - previous);
        previous = value;
    }
    (step > 0).then_some(step)
}

fn greatest_common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
