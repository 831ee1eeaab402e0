//! Quantiles between samples, for figures of whole runs and for reading other tools' figures.
//!
//! A latency is estimated by a sample that was measured ([`super::quantile`]): interpolation
//! between two modes gives a time that no request took. A dozen figures of runs are another
//! matter.

/// Type 7 of Hyndman & Fan 1996: what R, NumPy, k6 and spreadsheets print as a percentile.
/// `None` if there is no value; `sorted` ascends and `p` is in `0..=1`.
pub fn type_7(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(between(sorted, last as f64 * p))
}

/// The value at a position from 0, which may lie between two or beyond the ends.
fn between(sorted: &[f64], position: f64) -> f64 {
    let position = position.clamp(0.0, sorted.len() as f64 - 1.0);
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}
