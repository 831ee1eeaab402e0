//! How many runs: what those that were made say of the next, and when there are enough.
//!
//! The run is the unit: requests of one run share its host, its memory layout and its hour, so
//! their number says nothing of what another run will give. With a deviation of 6 % between runs
//! an interval from the pooled requests of all runs covers the truth in a quarter of cases.

use serde::{Deserialize, Serialize};

use super::log_ratio::{NotComparable, logs, moments};
use super::moderated::{Prior, SERIES_FEWEST};
use super::student::t_975;

/// Runs that are made in any case before anything is tested: the first number with a spread.
pub const FIRST: usize = 3;

/// Fewest runs that are enough: the t of fewer is so wide that a narrow interval is luck.
pub const ENOUGH: usize = 5;

/// Runs after which it ends however wide the interval is: double the time buys 30 % more.
pub const MOST: usize = 10;

/// Half the width of the interval that is aimed at, on the logarithm: 5 %, below which no
/// difference is claimed either.
pub const HALF_WIDTH_LOG: f64 = 0.05;

/// What the scatter on earlier days is worth, in runs: those of one host come back within a
/// third or so, and no better.
pub const HISTORY_DF: f64 = 10.0;

/// Two-sided chance of a false claim that each of several equally spaced looks may spend, so that
/// all together spend 5 % (Pocock 1977, table 1): one look first.
pub const ALPHA_PER_LOOK: [f64; 5] = [0.05, 0.0294, 0.0221, 0.0182, 0.0158];

/// A figure over runs, by its logarithm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogMean {
    /// Runs.
    pub runs: usize,
    /// Geometric mean.
    pub centre: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the logarithm from run to run, as seen.
    pub sd_log: f64,
    /// Half the width of the interval on the logarithm.
    pub half_width_log: f64,
    /// Degrees of freedom of the scatter that was used.
    pub df: f64,
}

/// The interval of a positive figure's level over runs, by t on logarithms, with what is known
/// of the host's scatter beforehand if anything is ([`history`]).
pub fn log_mean(figures: &[f64], prior: Option<Prior>) -> Result<LogMean, NotComparable> {
    let (mean, variance) = moments(&logs(figures)?)?;
    let n = figures.len() as f64;
    let (used, df) = match prior {
        Some(prior) => (prior.posterior(variance, n - 1.0), prior.df + n - 1.0),
        None => (variance, n - 1.0),
    };
    let half_width_log = t_975(df) * (used / n).sqrt();
    Ok(LogMean {
        runs: figures.len(),
        centre: mean.exp(),
        low: (mean - half_width_log).exp(),
        high: (mean + half_width_log).exp(),
        sd_log: variance.sqrt(),
        half_width_log,
        df,
    })
}

/// What earlier campaigns on the same host say of a figure's scatter from run to run, each with
/// its variance of logarithms and the degrees of freedom of that. `None` if they are worth less
/// than [`HISTORY_DF`] together: a prior must know more than three new runs do.
///
/// From [`SERIES_FEWEST`] campaigns on it is fitted and its worth is what they show, up to
/// [`HISTORY_DF`]; with fewer their pooled variance is taken for as much.
pub fn history(campaigns: &[(f64, f64)]) -> Option<Prior> {
    let df: f64 = campaigns.iter().map(|(_, df)| df).sum();
    if df < HISTORY_DF {
        return None;
    }
    if campaigns.len() >= SERIES_FEWEST {
        let fitted = Prior::fit(campaigns)?;
        return Some(Prior {
            df: fitted.df.min(HISTORY_DF),
            ..fitted
        });
    }
    let sum: f64 = campaigns.iter().map(|(variance, df)| variance * df).sum();
    Some(Prior {
        df: HISTORY_DF,
        variance: sum / df,
    })
}

/// When to stop repeating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stopping {
    /// Half the width that is aimed at, on the logarithm.
    pub half_width_log: f64,
    /// Fewest runs that are enough.
    pub enough: usize,
    /// Runs after which it ends.
    pub most: usize,
}

impl Default for Stopping {
    fn default() -> Self {
        Self {
            half_width_log: HALF_WIDTH_LOG,
            enough: ENOUGH,
            most: MOST,
        }
    }
}

/// What to do after some runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// Make so many more before looking again.
    Run(usize),
    /// The interval is as narrow as was wanted.
    Narrow,
    /// It is not, and no more runs are made.
    Exhausted,
}

impl Stopping {
    /// What to do when these figures were measured: the first three, then up to five, then one
    /// by one. A figure that cannot be judged (a zero) ends with the most runs.
    pub fn next(&self, figures: &[f64], prior: Option<Prior>) -> Next {
        let made = figures.len();
        if made < FIRST.min(self.most) {
            return Next::Run(FIRST.min(self.most) - made);
        }
        let enough = self.enough.min(self.most);
        if made < enough {
            return Next::Run(enough - made);
        }
        let narrow =
            log_mean(figures, prior).is_ok_and(|found| found.half_width_log <= self.half_width_log);
        if narrow {
            Next::Narrow
        } else if made < self.most {
            Next::Run(1)
        } else {
            Next::Exhausted
        }
    }

    /// How many runs the wanted width is expected to take when runs scatter by `sd_log`; `None`
    /// if more than the most.
    pub fn expected(&self, sd_log: f64) -> Option<usize> {
        let is_narrow = |&n: &usize| expected_half_width(n, sd_log) <= self.half_width_log;
        (self.enough.max(2)..=self.most).find(is_narrow)
    }
}

/// Half the width, on the logarithm, that is expected of `runs` runs which scatter by `sd_log`;
/// infinite for one.
pub fn expected_half_width(runs: usize, sd_log: f64) -> f64 {
    t_975(runs as f64 - 1.0) * sd_log / (runs as f64).sqrt()
}
