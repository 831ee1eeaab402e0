//! Dips of uniform samples, simulated.

/// Sizes of the samples simulated.
const SIZES: [f64; 8] = [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10_000.0];

/// Chances that the dips of the table are reached with.
pub const LEVELS: [f64; 16] = [
    0.99, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001,
];

/// `sqrt(n)` times the dip that a uniform sample of `n` reaches with the chance of
/// [`LEVELS`]: from 60 000 samples of each size up to 2000, 30 000 of 5000 and 20 000 of 10 000.
/// The standard error at a chance of 0.01 is 0.002 to 0.004.
#[rustfmt::skip]
#[expect(clippy::approx_constant, reason = "a simulated figure is near pi/8 by chance")]
const DIPS: [[f64; 16]; 8] = [
    [0.2229, 0.2672, 0.2907, 0.3098, 0.3275, 0.3457, 0.3650, 0.3876,
     0.4160, 0.4585, 0.4962, 0.5399, 0.5713, 0.5987, 0.6360, 0.6608],
    [0.2278, 0.2739, 0.2984, 0.3185, 0.3370, 0.3555, 0.3759, 0.3989,
     0.4280, 0.4726, 0.5122, 0.5593, 0.5941, 0.6241, 0.6598, 0.6890],
    [0.2331, 0.2800, 0.3045, 0.3240, 0.3424, 0.3613, 0.3821, 0.4057,
     0.4356, 0.4805, 0.5213, 0.5704, 0.6039, 0.6349, 0.6776, 0.7025],
    [0.2368, 0.2844, 0.3093, 0.3299, 0.3486, 0.3675, 0.3877, 0.4119,
     0.4428, 0.4887, 0.5297, 0.5792, 0.6141, 0.6464, 0.6908, 0.7177],
    [0.2400, 0.2879, 0.3131, 0.3332, 0.3521, 0.3714, 0.3927, 0.4167,
     0.4475, 0.4948, 0.5349, 0.5847, 0.6191, 0.6502, 0.6934, 0.7218],
    [0.2429, 0.2895, 0.3147, 0.3355, 0.3551, 0.3745, 0.3955, 0.4196,
     0.4504, 0.4973, 0.5399, 0.5898, 0.6260, 0.6573, 0.7007, 0.7270],
    [0.2438, 0.2903, 0.3157, 0.3362, 0.3556, 0.3750, 0.3966, 0.4213,
     0.4523, 0.4998, 0.5432, 0.5942, 0.6257, 0.6620, 0.7061, 0.7410],
    [0.2447, 0.2923, 0.3182, 0.3382, 0.3568, 0.3765, 0.3985, 0.4220,
     0.4529, 0.4998, 0.5434, 0.5928, 0.6298, 0.6584, 0.7011, 0.7230],
];

/// The chance of a dip at least as large as `dip` in a uniform sample of `n`.
///
/// Between sizes the table is interpolated in `1/sqrt(n)`, which its rows follow; beyond the
/// largest size `sqrt(n)` times the dip no longer changes. Between levels the logarithm of the
/// chance is interpolated; beyond the table it is that of its last level.
pub(super) fn chance(dip: f64, n: usize) -> f64 {
    let scaled = (n as f64).sqrt() * dip;
    let row = row(n as f64);
    let above = row.partition_point(|&reached| reached <= scaled);
    if above == 0 {
        return 1.0;
    }
    if above == row.len() {
        return LEVELS[row.len() - 1];
    }
    let part = (scaled - row[above - 1]) / (row[above] - row[above - 1]);
    let (from, to) = (LEVELS[above - 1].ln(), LEVELS[above].ln());
    (from + part * (to - from)).exp()
}

/// The dips of a sample of `n`, one for each level.
fn row(n: f64) -> [f64; 16] {
    let n = n.clamp(SIZES[0], SIZES[SIZES.len() - 1]);
    let above = SIZES
        .partition_point(|&size| size <= n)
        .min(SIZES.len() - 1);
    let (from, to) = (SIZES[above - 1], SIZES[above]);
    let part = (from.sqrt().recip() - n.sqrt().recip()) / (from.sqrt().recip() - to.sqrt().recip());
    std::array::from_fn(|level| {
        let (near, far) = (DIPS[above - 1][level], DIPS[above][level]);
        near + part * (far - near)
    })
}
