//! Single figures far off: they are no change of level, and must not hide one.

use crate::stats::median::median;

/// Neighbours on either side that a figure is compared with, itself included.
const REACH: usize = 2;
/// How many standard deviations a figure may be from the middle of its neighbours: of normal ones
/// one in two million is further.
const SDS: f64 = 5.0;
/// The median size of the difference of two normal values, in their standard deviations.
const DIFFERENCE: f64 = 0.953_872_552_083_115; // sqrt(2) * 0.674_489...

/// The same logarithms with single figures that are far from their neighbours moved as close to
/// them as is still likely (Hampel 1974), at least `least` away.
///
/// The scatter is that of neighbours, so that a change of level does not count; two figures on a
/// new level at the end stay what they are, but for part of what is beyond all doubt anyhow.
pub(in crate::stats) fn tamed(logs: &[f64], least: f64) -> Vec<f64> {
    let mut steps: Vec<f64> = logs.windows(2).map(|p| (p[1] - p[0]).abs()).collect();
    let sd = median(&mut steps).unwrap_or(0.0) / DIFFERENCE;
    let allowed = least.max(SDS * sd);
    (0..logs.len())
        .map(|at| {
            let to = (at + REACH + 1).min(logs.len());
            let mut near = logs[at.saturating_sub(REACH)..to].to_vec();
            let middle = median(&mut near).unwrap_or(logs[at]);
            logs[at].clamp(middle - allowed, middle + allowed)
        })
        .collect()
}
