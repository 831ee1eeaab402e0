//! What a number of pairs can see, and how many it takes: said before anything is run.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

use super::student;

/// Chance with which a difference that is there should be found.
pub const POWER: f64 = 0.80;

/// Chance of a claim where there is no difference.
pub const ALPHA: f64 = 0.05;

/// Factors of the largest ratio that is looked for: beyond it nothing is called detectable.
const RATIO_MOST: f64 = 1e6;

/// Fewest pairs whose scatter is known at all.
const PAIRS_FEWEST: usize = 2;

/// A two-sided test of pairs, of which the scatter of differences is known or guessed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// Chance of a false claim. A family of tests spends less on each.
    pub alpha: f64,
    /// Chance of finding what is there.
    pub power: f64,
    /// Degrees of freedom that other series lend ([`super::moderated::Prior`]); 0 for none.
    pub prior_df: f64,
}

impl Default for Design {
    fn default() -> Self {
        Self {
            alpha: ALPHA,
            power: POWER,
            prior_df: 0.0,
        }
    }
}

impl Design {
    /// The chance that `pairs` pairs show a true `ratio` when the logarithms of their ratios
    /// scatter with standard deviation `sd_log`, from the noncentral t distribution. 0 for fewer
    /// than two pairs.
    pub fn power_for(&self, ratio: f64, pairs: usize, sd_log: f64) -> f64 {
        let shift = ratio.ln().abs() * (pairs as f64).sqrt() / sd_log;
        self.power_at(shift, self.df(pairs))
    }

    /// The smallest ratio above 1 that `pairs` pairs find with the wanted power; its reciprocal
    /// is found as well. `None` for fewer than two pairs.
    pub fn detectable_ratio(&self, pairs: usize, sd_log: f64) -> Option<f64> {
        self.detectable_at(sd_log / (pairs as f64).sqrt(), self.df(pairs))
    }

    /// The same for any t test of logarithms whose `standard_error` is known with `df` degrees of
    /// freedom; `None` below one, or if no ratio would be found.
    pub fn detectable_at(&self, standard_error: f64, df: f64) -> Option<f64> {
        if df < 1.0 || !standard_error.is_finite() {
            return None;
        }
        let most = RATIO_MOST.ln();
        let (mut low, mut high) = (0.0, 1.0);
        while self.power_at(high, df) < self.power {
            high *= 2.0;
            if high * standard_error > most {
                return None;
            }
        }
        // Halved until the bounds differ by rounding only.
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.power_at(middle, df) < self.power {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some((high * standard_error).exp())
    }

    /// How many pairs it takes to find `ratio` with the wanted power, if `most` are enough.
    pub fn pairs_needed(&self, ratio: f64, sd_log: f64, most: usize) -> Option<usize> {
        let enough = |&pairs: &usize| self.power_for(ratio, pairs, sd_log) >= self.power;
        (PAIRS_FEWEST..=most).find(enough)
    }

    /// The chance that t with a noncentrality of `shift` and `df` degrees of freedom lies beyond
    /// the critical value on either side; 0 below one degree.
    pub fn power_at(&self, shift: f64, df: f64) -> f64 {
        beyond(shift, df, self.alpha / 2.0) + beyond(-shift, df, self.alpha / 2.0)
    }

    /// Degrees of freedom of so many pairs; 0 if their scatter is not known at all.
    fn df(&self, pairs: usize) -> f64 {
        if pairs < PAIRS_FEWEST {
            return 0.0;
        }
        pairs as f64 - 1.0 + self.prior_df
    }
}

/// The chance that t with a noncentrality of `shift` and `df` degrees of freedom exceeds what a
/// central one does with probability `tail`: the power of a one-sided test. 0 below one degree.
pub fn beyond(shift: f64, df: f64, tail: f64) -> f64 {
    if df < 1.0 {
        return 0.0;
    }
    let critical = student::upper_point(tail, df);
    let normal = Normal::standard();
    over_scatter(df, |s| normal.cdf(shift - critical * s))
}

/// The mean of `f(s)` over `s = sqrt(chi^2 / df)`, the observed over the true standard deviation.
///
/// By the trapezoidal rule in `ln s`, which is exact to rounding for a density that vanishes as
/// fast as this one on both sides.
fn over_scatter(df: f64, f: impl Fn(f64) -> f64) -> f64 {
    /// Points: the density of any `df` is then sampled 30 times a standard deviation.
    const STEPS: i32 = 600;
    if df.is_infinite() {
        return f(1.0);
    }
    let half = df / 2.0;
    let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    // Left the density falls as exp(df u), right faster; 1 / sqrt(2 df) is its width in the middle.
    let width = 10.0 / (2.0 * df).sqrt();
    let left = -(width.max(36.0 / df));
    let step = (width - left) / f64::from(STEPS);
    let sum: f64 = (0..=STEPS)
        .map(|i| {
            let u = left + f64::from(i) * step;
            let density = (constant + df * u - half * (2.0 * u).exp()).exp();
            density * f(u.exp())
        })
        .sum();
    sum * step
}
