//! Critical values of the largest t over all splits of a series of one level.

use crate::stats::student::two_sided_p;

/// Chances for which there are critical values.
pub(super) const LEVELS: [f64; 8] = [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001];

/// Length of a series and the critical values for [`LEVELS`].
type Row = (usize, [f64; 8]);

/// From 1,000,000 series of independent normal values for each length (`cargo run --release -p
/// slowpath-core --example critical_values` prints this table): a chance of 0.001 is known to 3 %
/// of itself, one of 0.01 to 1 %. Values on either side of a split: two at least.
const TABLE: [Row; 20] = [
    (5, [1.183, 2.246, 3.157, 4.184, 5.842, 7.468, 9.459, 16.063]),
    (6, [1.356, 2.334, 3.107, 3.938, 5.158, 6.246, 7.526, 11.555]),
    (7, [1.461, 2.364, 3.048, 3.757, 4.762, 5.590, 6.514, 9.231]),
    (8, [1.531, 2.375, 2.990, 3.622, 4.477, 5.179, 5.948, 8.019]),
    (9, [1.580, 2.383, 2.956, 3.532, 4.306, 4.928, 5.588, 7.296]),
    (10, [1.619, 2.389, 2.923, 3.451, 4.154, 4.702, 5.286, 6.749]),
    (12, [1.675, 2.394, 2.884, 3.355, 3.972, 4.447, 4.928, 6.138]),
    (15, [1.732, 2.403, 2.846, 3.267, 3.809, 4.208, 4.612, 5.579]),
    (20, [1.793, 2.420, 2.820, 3.191, 3.664, 4.008, 4.339, 5.153]),
    (25, [1.834, 2.434, 2.813, 3.158, 3.591, 3.907, 4.204, 4.909]),
    (30, [1.864, 2.447, 2.810, 3.138, 3.548, 3.840, 4.123, 4.751]),
    (40, [1.909, 2.472, 2.817, 3.129, 3.507, 3.773, 4.030, 4.592]),
    (50, [1.942, 2.491, 2.823, 3.123, 3.486, 3.741, 3.989, 4.540]),
    (70, [1.989, 2.519, 2.840, 3.126, 3.468, 3.713, 3.946, 4.450]),
    (
        100,
        [2.034, 2.552, 2.862, 3.136, 3.469, 3.700, 3.922, 4.380],
    ),
    (
        150,
        [2.083, 2.589, 2.890, 3.157, 3.476, 3.695, 3.907, 4.349],
    ),
    (
        200,
        [2.115, 2.614, 2.912, 3.173, 3.486, 3.702, 3.904, 4.342],
    ),
    (
        300,
        [2.159, 2.650, 2.942, 3.199, 3.503, 3.716, 3.918, 4.348],
    ),
    (
        500,
        [2.209, 2.694, 2.979, 3.230, 3.531, 3.742, 3.936, 4.354],
    ),
    (
        1000,
        [2.270, 2.746, 3.027, 3.275, 3.569, 3.774, 3.965, 4.377],
    ),
];

/// Logarithms of the chances of a single t as large as each critical value of a series of `n`
/// values, between the lengths of the table linear in `ln n`; `None` outside of it.
pub(super) fn tails(n: usize) -> Option<[f64; LEVELS.len()]> {
    let upper = TABLE.iter().position(|row| row.0 >= n)?;
    let tails = |row: &Row| row.1.map(|c| two_sided_p(c, row.0 as f64 - 2.0).ln());
    let above = tails(&TABLE[upper]);
    if TABLE[upper].0 == n {
        return Some(above);
    }
    let below = TABLE.get(upper.checked_sub(1)?)?;
    let share = (n as f64 / below.0 as f64).ln() / (TABLE[upper].0 as f64 / below.0 as f64).ln();
    let mut between = tails(below);
    for (low, high) in between.iter_mut().zip(above) {
        *low += share * (high - *low);
    }
    Some(between)
}
