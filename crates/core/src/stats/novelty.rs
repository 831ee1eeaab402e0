//! Is the newest value like those before it?

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewest earlier values that say what the next may be: the interval of three is three times as
/// wide as that of many, of four twice.
pub const HISTORY_FEWEST: usize = 4;

/// A value held against those before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Novelty {
    /// Geometric mean of the earlier values.
    pub expected: f64,
    /// Lower end of where the next value lies unless something changed.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The value as a multiple of `expected`.
    pub ratio: f64,
    /// Two-sided chance of a value as far away, if nothing changed.
    pub p: f64,
}

/// Holds a positive figure against at least [`HISTORY_FEWEST`] earlier ones of one level; `None`
/// for fewer, or if any is not positive.
///
/// The interval is one for a *single further value*, `mean ± t s sqrt(1 + 1/n)` on logarithms, and
/// not that of the mean, which most new values miss when the history is long. `chance` is that of
/// missing it by accident.
pub fn novelty(earlier: &[f64], value: f64, chance: f64) -> Option<Novelty> {
    let is_fit = |v: f64| v.is_finite() && v > 0.0;
    if earlier.len() < HISTORY_FEWEST || !is_fit(value) || !earlier.iter().all(|&v| is_fit(v)) {
        return None;
    }
    let logs: Vec<f64> = earlier.iter().map(|v| v.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let squares: f64 = logs.iter().map(|v| (v - mean).powi(2)).sum();
    let error = (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt();
    let law = StudentsT::new(0.0, 1.0, n - 1.0).expect("four values leave three degrees");
    let reach = law.inverse_cdf(1.0 - chance / 2.0) * error;
    let away = value.ln() - mean;
    let p = if away.abs() > 0.0 {
        2.0 * law.sf(away.abs() / error.max(f64::MIN_POSITIVE))
    } else {
        1.0
    };
    Some(Novelty {
        expected: mean.exp(),
        low: (mean - reach).exp(),
        high: (mean + reach).exp(),
        ratio: away.exp(),
        p,
    })
}
