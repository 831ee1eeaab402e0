//! What is said of one row.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Better, Unit};
use slowpath_core::stats::fdr::CLAIMED_UP_TO;
use slowpath_core::stats::log_ratio::{EQUIVALENT_WITHIN, LogRatio, NotComparable};
use slowpath_core::stats::median::median;
use slowpath_core::stats::novelty::further;
use slowpath_core::stats::power::{ALPHA, Design};
use slowpath_core::stats::student::upper_point;
use slowpath_core::stats::welch::welch;

use super::finely::Off;
use crate::estimate::Units;

/// More units a side than this are not recommended: what takes more is asked of `slowpath ab`,
/// which sees more with fewer.
const UNITS_MOST: usize = 200;

/// A single unit is compared with at least three: two scatter with one degree of freedom, which a
/// single quiet pair makes certain of anything.
const FURTHER_FEWEST: usize = 3;

/// What is to be found is this many times the least difference that is claimed, as a logarithm:
/// one of just that least shows itself as less in half of all cases, however many units there are.
const WANTED_LEASTS: f64 = 2.0;

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

/// A row under judgement: what Welch's test says of it, before the family is tested.
pub(super) struct Tested {
    ratio: Option<Ratio>,
    found: Option<LogRatio>,
    why_not: String,
    /// What it may be off by, since it was read in steps.
    off: Off,
    /// Neither side has anything to count, which is as equal as can be.
    nothing: bool,
    needs_units: bool,
}

/// What one row says by itself. Figures that do not scatter may be `off`.
pub(super) fn tested(metric: &str, unit: Unit, (a, b): (&Units, &Units), off: Off) -> Tested {
    let none = |why_not: &str| Tested {
        ratio: None,
        found: None,
        off,
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
                low: Some(found.low * (-off.log).exp()),
                high: Some(found.high * off.log.exp()).filter(|high| high.is_finite()),
                p: Some(found.p),
                adjusted_p: None,
            }),
            found: Some(found),
            ..none("")
        },
        Err(NotComparable::TooFew { have, .. }) => {
            let why = if have > 1 {
                format!("one unit against {have}: where a further one lies takes {FURTHER_FEWEST}")
            } else {
                SINGLE.to_owned()
            };
            Tested {
                ratio: bare,
                needs_units: true,
                ..none(&why)
            }
        }
        Err(error) => none(&error.to_string()),
    }
}

/// Why single units say nothing of a difference.
const SINGLE: &str = "one run each, run-to-run spread unknown";

/// The ratio of B to A: Welch's where both scatter; where one is a single unit, that unit held
/// against where a further one of the other side would lie.
fn unpaired(a: &[f64], b: &[f64]) -> Result<LogRatio, NotComparable> {
    let (many, one, is_a_single) = match (a, b) {
        ([one], many) if many.len() > 1 => (many, *one, true),
        (many, [one]) if many.len() > 1 => (many, *one, false),
        _ => return welch(a, b),
    };
    if many.len() < FURTHER_FEWEST {
        return Err(NotComparable::TooFew {
            needs: FURTHER_FEWEST,
            have: many.len(),
        });
    }
    let found = further(many, one)?;
    Ok(if is_a_single { found.inverse() } else { found })
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

/// The verdict on a row, why, and how many units a side would decide it.
pub(super) struct Judged {
    pub(super) ratio: Option<Ratio>,
    pub(super) verdict: Verdict,
    pub(super) because: String,
    pub(super) needs: Option<u64>,
}

/// What a difference has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    /// Of this ratio at least.
    pub(super) ratio_to_claim: f64,
    /// Beyond chance among so many rows.
    pub(super) family: usize,
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
        bar: Bar,
        (a, b): (&Units, &Units),
    ) -> Judged {
        let ratio_to_claim = bar.ratio_to_claim;
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
        let is_large = |off: f64| found.mean_log.abs() - off >= ratio_to_claim.ln();
        if significant && is_large(self.off.log) {
            return judged(direction(found.mean_log, better), String::new(), None);
        }
        if found.is_equivalent(EQUIVALENT_WITHIN / self.off.log.exp()) {
            return judged(Verdict::Same, "within 5 %".to_owned(), None);
        }
        if significant && is_large(0.0) || found.is_equivalent(EQUIVALENT_WITHIN) {
            let (because, needs) = self.off.told();
            return judged(Verdict::CannotTell, because, needs);
        }
        let because = if significant {
            let least = (ratio_to_claim - 1.0) * 100.0;
            format!("beyond chance, but below the {least:.0} % that count here")
        } else {
            String::new()
        };
        let needs = (!significant).then(|| needed(&found, bar, a, b));
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

/// The true ratio that [`RowComparison::needs`](super::RowComparison::needs) speaks of.
pub(super) fn ratio_wanted(ratio_to_claim: f64) -> f64 {
    ratio_to_claim.powf(WANTED_LEASTS)
}

/// Units a side that claim a true difference of twice the least that is claimed in four of five
/// cases, with the scatter that was seen: beyond chance even if it is the only one of the family,
/// and not smaller by accident than what is claimed.
fn needed(found: &LogRatio, bar: Bar, a: &Units, b: &Units) -> Option<u64> {
    let (n_a, n_b) = (a.values.len() as f64, b.values.len() as f64);
    let of_one_each = found.standard_error / (1.0 / n_a + 1.0 / n_b).sqrt();
    let design = Design {
        alpha: ALPHA / bar.family.max(1) as f64,
        ..Design::default()
    };
    let wanted = ratio_wanted(bar.ratio_to_claim).ln();
    let spare = upper_point(1.0 - design.power, f64::INFINITY);
    let is_enough = |&n: &usize| {
        let error = of_one_each * (2.0 / n as f64).sqrt();
        let is_large = wanted - bar.ratio_to_claim.ln() >= spare * error;
        is_large && design.power_at(wanted / error, 2.0 * (n as f64 - 1.0)) >= design.power
    };
    // More than there are: they did not decide it.
    let have = a.values.len().min(b.values.len());
    (have + 1..=UNITS_MOST).find(is_enough).map(|n| n as u64)
}
