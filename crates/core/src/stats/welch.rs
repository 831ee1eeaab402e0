//! Unpaired comparison: B against A, run at other times.

use super::log_ratio::{LogRatio, NotComparable, logs, moments};
use super::ranks;

/// The ratio of B to A from runs that are not paired, by Welch's t on logarithms (Welch 1947),
/// which does not assume that both scatter alike. Where runs were interleaved [`super::paired`]
/// sees more; where they were not, a drift of the host in between is part of the ratio.
pub fn welch(a: &[f64], b: &[f64]) -> Result<LogRatio, NotComparable> {
    let (mean_a, variance_a) = moments(&logs(a)?)?;
    let (mean_b, variance_b) = moments(&logs(b)?)?;
    let (df_a, df_b) = (a.len() as f64 - 1.0, b.len() as f64 - 1.0);
    let (of_a, of_b) = (variance_a / a.len() as f64, variance_b / b.len() as f64);
    let of_both = of_a + of_b;
    let df = if of_both > 0.0 {
        of_both.powi(2) / (of_a.powi(2) / df_a + of_b.powi(2) / df_b)
    } else {
        df_a + df_b
    };
    let least_p = ranks::least_p(a.len(), b.len());
    Ok(LogRatio::new(mean_b - mean_a, of_both.sqrt(), df, least_p))
}
