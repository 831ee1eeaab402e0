//! Is the newest value like those before it?

use serde::{Deserialize, Serialize};

use super::log_ratio::{LogRatio, NotComparable, logs, moments};
use super::power::Design;
use super::{ranks, student};

/// Fewest earlier values that say what the next may be: the interval of three is three times as
/// wide as that of many, of four twice.
pub const HISTORY_FEWEST: usize = 4;

/// A value compared with those before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Novelty {
    /// Geometric mean of the earlier values.
    pub expected: f64,
    /// Lower end of where the next value lies unless something changed.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The value over `expected`.
    pub against: LogRatio,
}

impl Novelty {
    /// The ratio above 1 that a further value must truly differ by to be found with the power of
    /// `design`; `None` if none would be.
    pub fn detectable(&self, design: &Design) -> Option<f64> {
        design.detectable_at(self.against.standard_error, self.against.df)
    }
}

/// How far one further value lies from at least two: Student's t with `s sqrt(1 + 1/n)` on
/// logarithms, the interval that a *single further value* has and not that of their mean, which
/// most new values miss when there are many.
///
/// # Errors
/// Fewer than two values to hold it against, or one that has no logarithm.
pub fn further(many: &[f64], one: f64) -> Result<LogRatio, NotComparable> {
    let of_one = logs(&[one])?[0];
    let (mean, variance) = moments(&logs(many)?)?;
    let n = many.len() as f64;
    let error = (variance * (1.0 + 1.0 / n)).sqrt();
    let least_p = ranks::least_p(many.len(), 1);
    Ok(LogRatio::new(of_one - mean, error, n - 1.0, least_p))
}

/// Holds a positive figure against at least [`HISTORY_FEWEST`] earlier ones of one level; `None`
/// for fewer, or if any is not positive. `chance` is that of lying beyond the interval by accident.
pub fn novelty(earlier: &[f64], value: f64, chance: f64) -> Option<Novelty> {
    if earlier.len() < HISTORY_FEWEST {
        return None;
    }
    let against = further(earlier, value).ok()?;
    let mean = value.ln() - against.mean_log;
    let reach = student::upper_point(chance / 2.0, against.df) * against.standard_error;
    Some(Novelty {
        expected: mean.exp(),
        low: (mean - reach).exp(),
        high: (mean + reach).exp(),
        against,
    })
}
