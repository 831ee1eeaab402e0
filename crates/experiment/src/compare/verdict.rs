//! What is said of one row.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, Unit};
use slowpath_core::stats::fdr::CLAIMED_UP_TO;
use slowpath_core::stats::log_ratio::{EQUIVALENT_WITHIN, LogRatio, NotComparable};
use slowpath_core::stats::median::median;
use slowpath_core::stats::power::Design;
use slowpath_core::stats::student::{two_sided_p, upper_point};
use slowpath_core::stats::welch::welch;

use crate::estimate::Units;

/// More units a side than this are not recommended: what takes more is asked of `slowpath ab`,
/// which sees more with fewer.
const UNITS_MOST: usize = 200;

/// Logarithms that scatter by less than this differ by rounding only; taken for it where values
/// do not scatter at all (a counter), so that a distance from them has a size.
const SCATTER_LEAST: f64 = 1e-9;

/// A metric that is never judged: what happened once at most in a run.
const MAXIMUM: &str = "max";

/// B over A with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// The ratio of the geometric means (of odds, for a share).
    pub value: f64,
    /// Lower end of its 95 % interval over units; `null` where there is a single unit on a side.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Chance of a ratio as far from 1, were there no difference (Welch, two-sided).
    pub p: Option<f64>,
    /// The same, adjusted for the number of rows that were tested (Benjamini & Hochberg).
    pub adjusted_p: Option<f64>,
}

/// What is said of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// B is better: beyond chance, and by an amount that matters.
    Better,
    /// B is worse.
    Worse,
    /// B is different, in a metric of which neither way is better.
    Different,
    /// B is as A: the interval lies within 5 %.
    Same,
    /// None of these could be shown.
    CannotTell,
    /// The two were not measured alike.
    NotComparable,
}

/// A row under judgement: what Welch's test says of it, before the family is looked at.
pub(super) struct Tested {
    ratio: Option<Ratio>,
    found: Option<LogRatio>,
    why_not: String,
    /// Neither side has anything to count, which is as equal as can be.
    nothing: bool,
    needs_units: bool,
}

/// What one row says by itself.
pub(super) fn tested(metric: &str, unit: Unit, a: &Units, b: &Units) -> Tested {
    let none = |why_not: &str| Tested {
        ratio: None,
        found: None,
        why_not: why_not.to_owned(),
        nothing: false,
        needs_units: false,
    };
    if a.values.is_empty() || b.values.is_empty() {
        let (side, units) = if a.values.is_empty() {
            ("A", a)
        } else {
            ("B", b)
        };
        return none(&format!("{side} has no figure: {}", units.refused()));
    }
    let is_nothing = |units: &Units| units.values.iter().all(|value| *value <= 0.0);
    if unit == Unit::Share && is_nothing(a) && is_nothing(b) {
        return Tested {
            nothing: true,
            ..none("none in either")
        };
    }
    let bare = bare_ratio(a, b);
    match unpaired(&a.odds, &b.odds) {
        _ if metric == MAXIMUM => Tested {
            ratio: bare,
            ..none("a maximum is whatever happened once")
        },
        Ok(found) => Tested {
            ratio: Some(Ratio {
                value: found.ratio,
                low: Some(found.low),
                high: Some(found.high),
                p: Some(found.p),
                adjusted_p: None,
            }),
            found: Some(found),
            ..none("")
        },
        Err(NotComparable::TooFew { .. }) => Tested {
            ratio: bare,
            needs_units: true,
            ..none(SINGLE)
        },
        Err(error) => none(&error.to_string()),
    }
}

/// Why single units say nothing of a difference.
const SINGLE: &str = "one run each, run-to-run spread unknown";

/// The ratio of B to A: Welch's where both scatter; where one is a single unit, that unit held
/// against where a further one of the other side would lie.
fn unpaired(a: &[f64], b: &[f64]) -> Result<LogRatio, NotComparable> {
    match (a, b) {
        ([one], many) if many.len() > 1 => further(many, *one, -1.0),
        (many, [one]) if many.len() > 1 => further(many, *one, 1.0),
        _ => welch(a, b),
    }
}

/// How far one further unit lies from several: Student's t with `s sqrt(1 + 1/n)` on logarithms,
/// the interval that a single further value has (and not their mean). `sign` is -1 if the single
/// one is what is compared with.
fn further(many: &[f64], one: f64, sign: f64) -> Result<LogRatio, NotComparable> {
    let unfit = many
        .iter()
        .chain([&one])
        .find(|v| !v.is_finite() || **v <= 0.0);
    if let Some(&value) = unfit {
        return Err(NotComparable::NotPositive { value });
    }
    let n = many.len() as f64;
    let mean = many.iter().map(|v| v.ln()).sum::<f64>() / n;
    let squares: f64 = many.iter().map(|v| (v.ln() - mean).powi(2)).sum();
    let df = n - 1.0;
    let standard_error = (squares / df * (1.0 + 1.0 / n)).sqrt().max(SCATTER_LEAST);
    let mean_log = sign * (one.ln() - mean);
    let half = upper_point(0.025, df) * standard_error;
    Ok(LogRatio {
        ratio: mean_log.exp(),
        low: (mean_log - half).exp(),
        high: (mean_log + half).exp(),
        p: two_sided_p(mean_log / standard_error, df),
        mean_log,
        standard_error,
        df,
    })
}

fn bare_ratio(a: &Units, b: &Units) -> Option<Ratio> {
    let middle = |units: &Units| median(&mut units.odds.clone());
    let (a, b) = (middle(a)?, middle(b)?);
    let value = b / a;
    (value.is_finite() && value > 0.0).then_some(Ratio {
        value,
        low: None,
        high: None,
        p: None,
        adjusted_p: None,
    })
}

/// The verdict on a row, why, and how many units a side would tell.
pub(super) struct Judged {
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
    pub(super) because: String,
    pub(super) needs: Option<u64>,
}

impl Tested {
    /// The p of the row, if it takes part in the family.
    pub(super) fn p(&self) -> Option<f64> {
        self.found.map(|found| found.p)
    }

    /// The judgement, given the adjusted p if the row took part in the family.
    pub(super) fn judged(
        self,
        adjusted_p: Option<f64>,
        better: Better,
        ratio_to_claim: f64,
        (a, b): (&Units, &Units),
    ) -> Judged {
        let ratio = self.ratio.map(|ratio| Ratio {
            adjusted_p,
            ..ratio
        });
        let judged = |verdict, because: String, needs| Judged {
            ratio,
            verdict,
            because,
            needs,
        };
        let Some((found, adjusted_p)) = self.found.zip(adjusted_p) else {
            let verdict = if self.nothing {
                Verdict::Same
            } else {
                Verdict::CannotTell
            };
            let needs = self.needs_units.then_some(UNITS_OF_A_FIRST_LOOK);
            return judged(verdict, self.why_not, needs);
        };
        let significant = adjusted_p <= CLAIMED_UP_TO;
        let large = found.mean_log.abs() >= ratio_to_claim.ln();
        if significant && large {
            return judged(direction(found.mean_log, better), String::new(), None);
        }
        if found.is_equivalent(EQUIVALENT_WITHIN) {
            return judged(Verdict::Same, "within 5 %".to_owned(), None);
        }
        let because = if significant {
            let least = (ratio_to_claim - 1.0) * 100.0;
            format!("beyond chance, but below the {least:.0} % that count here")
        } else {
            String::new()
        };
        let needs = (!significant).then(|| needed(&found, ratio_to_claim, a, b));
        judged(Verdict::CannotTell, because, needs.flatten())
    }
}

/// Units a side for a first look where the scatter is unknown: the fewest whose range covers the
/// median with 93.75 %.
const UNITS_OF_A_FIRST_LOOK: u64 = 5;

/// Which way a row is, by the sign of the logarithm of a ratio.
pub(crate) fn direction(mean_log: f64, better: Better) -> Verdict {
    match (better, mean_log > 0.0) {
        (Better::Neither, _) => Verdict::Different,
        (Better::Lower, true) | (Better::Higher, false) => Verdict::Worse,
        _ => Verdict::Better,
    }
}

/// Units a side that find the least ratio that is claimed in four of five cases, with the scatter
/// that was seen. With as many on either side, a difference of means scatters as the mean of that
/// many differences does.
fn needed(found: &LogRatio, ratio_to_claim: f64, a: &Units, b: &Units) -> Option<u64> {
    let harmonic = 1.0 / a.values.len() as f64 + 1.0 / b.values.len() as f64;
    let sd_of_differences = found.standard_error * (2.0 / harmonic).sqrt();
    let wanted = Design::default().pairs_needed(ratio_to_claim, sd_of_differences, UNITS_MOST)?;
    // More than there are: they did not tell.
    let have = a.values.len().min(b.values.len());
    Some(wanted.max(have + 1) as u64)
}
