//! What several runs say of one figure, with the run as the unit.

use serde::{Deserialize, Serialize};
use slowpath_core::figures::{Figure, Row, RunFigures, Unit};
use slowpath_core::stats::median::median;
use slowpath_core::stats::order;
use slowpath_core::stats::paired::logit;
use slowpath_core::stats::spread::spread;

/// What one value of an estimate is of: what scatters between them is what the interval knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnitOf {
    /// A run: its median over its repeats.
    Runs,
    /// A repeat of a single run: the scatter between runs is not known.
    Repeats,
    /// A single repeat of a single run: its interval is that within it, and says nothing of what
    /// another run would give.
    Within,
}

/// A figure of a side, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The median over the units, in the row's unit; `null` if there is none.
    pub value: Option<f64>,
    /// Lower end of its interval; `null` if that is not known.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The real confidence of the interval, from 0 to 1: the range of few units is no 95 %
    /// interval (75 % of three, 93.75 % of five).
    pub confidence: Option<f64>,
    /// How many units.
    pub n: u64,
    /// What a unit is.
    pub of: UnitOf,
    /// `(max - min) / median` over the units; `null` for fewer than two.
    pub spread: Option<f64>,
    /// Why there is no value; or, if there is one, why its run does not determine it: it is what
    /// the only repeat showed, without an interval. Empty if neither is so.
    pub refused: String,
}

/// Confidence of an interval within a run.
const WITHIN_CONFIDENCE: f64 = 0.95;
/// Confidence that is wanted of an interval over units; fewer than six have less.
const WANTED_CONFIDENCE: f64 = 0.95;

/// The values of one row on one side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Units {
    /// One a unit, in order of time.
    pub(crate) values: Vec<f64>,
    /// The same as odds (with Haldane's correction) where the row is a share and its counts are
    /// known, otherwise the values: what ratios are made of.
    pub(crate) odds: Vec<f64>,
    pub(crate) of: UnitOf,
    /// The interval within the only unit.
    within: Option<Figure>,
    refused: String,
}

/// The row of that name in a run.
pub(crate) fn row<'a>(run: &'a RunFigures, subject: &str, metric: &str) -> Option<&'a Row> {
    let mut rows = run.rows.iter();
    rows.find(|row| row.subject == subject && row.metric == metric)
}

impl Units {
    /// The units of a row over runs: the runs if there are several that have it, otherwise the
    /// repeats of the only one.
    pub(crate) fn of(runs: &[&RunFigures], subject: &str, metric: &str) -> Self {
        let rows: Vec<&Row> = runs
            .iter()
            .filter_map(|run| row(run, subject, metric))
            .collect();
        let mut refused = rows.iter().map(|row| row.refused.as_str());
        let refused = refused.rfind(|why| !why.is_empty()).unwrap_or_default();
        let mut units = Self {
            values: Vec::new(),
            odds: Vec::new(),
            of: UnitOf::Within,
            within: None,
            refused: refused.to_owned(),
        };
        let known: Vec<(&Row, f64)> = rows
            .into_iter()
            .filter_map(|row| Some((row, of_run(row)?)))
            .collect();
        match known.as_slice() {
            [] => {}
            [(row, value)] => units.of_one(row, *value),
            several => {
                units.of = UnitOf::Runs;
                for (row, value) in several {
                    units.values.push(*value);
                    units.odds.push(odds_of_run(row).unwrap_or(*value));
                }
            }
        }
        units
    }

    fn of_one(&mut self, row: &Row, value: f64) {
        let kept: Vec<&Figure> = row.repeats.iter().filter(|f| f.aside.is_empty()).collect();
        if kept.len() > 1 {
            self.of = UnitOf::Repeats;
            for figure in kept {
                self.values.push(figure.value);
                self.odds
                    .push(odds(row.unit, &[figure]).unwrap_or(figure.value));
            }
            return;
        }
        self.values.push(value);
        self.odds.push(odds_of_run(row).unwrap_or(value));
        let within = row.whole.as_ref().filter(|whole| whole.low.is_some());
        self.within = within
            .or(kept.first().copied().filter(|one| one.low.is_some()))
            .cloned();
    }

    /// Why there are no values, if there are none.
    pub(crate) fn refused(&self) -> &str {
        if self.refused.is_empty() {
            "no repeat contains it"
        } else {
            &self.refused
        }
    }

    /// The same as a single further run, to be compared with several runs: repeats of one run
    /// say nothing of how far runs differ.
    pub(crate) fn as_one_run(&self) -> Self {
        let one = |values: &[f64]| median(&mut values.to_vec()).into_iter().collect();
        Self {
            values: one(&self.values),
            odds: one(&self.odds),
            of: UnitOf::Runs,
            within: self.within.clone(),
            refused: self.refused.clone(),
        }
    }

    /// The estimate of these units.
    pub(crate) fn estimate(&self) -> Estimate {
        let bare = self.of == UnitOf::Within && self.within.is_none();
        let refused = match (self.values.is_empty(), bare) {
            (true, _) => self.refused().to_owned(),
            (false, true) => self.refused.clone(),
            (false, false) => String::new(),
        };
        let mut estimate = Estimate {
            value: None,
            low: None,
            high: None,
            confidence: None,
            n: self.values.len() as u64,
            of: self.of,
            spread: None,
            refused,
        };
        if let (UnitOf::Within, Some(within)) = (self.of, &self.within) {
            estimate.value = Some(within.value);
            (estimate.low, estimate.high) = (within.low, within.high);
            estimate.confidence = Some(WITHIN_CONFIDENCE);
        } else if let Some(found) = spread(&self.values) {
            estimate.value = Some(found.median);
            if found.runs > 1 {
                // The range of few units, ranks within it of more.
                let ends = order::median(&self.values, WANTED_CONFIDENCE)
                    .map_or((found.low, found.high, found.confidence), |ranks| {
                        (ranks.low, ranks.high, ranks.confidence)
                    });
                (estimate.low, estimate.high) = (Some(ends.0), Some(ends.1));
                estimate.confidence = Some(ends.2);
                estimate.spread = Some(found.spread).filter(|spread| spread.is_finite());
            }
        }
        estimate
    }
}

/// The figure of a run: the median over its repeats, or what it has as a whole.
pub(crate) fn of_run(row: &Row) -> Option<f64> {
    let values = row.values();
    match spread(&values) {
        Some(found) => Some(found.median),
        None if row.repeats.is_empty() => row.whole.as_ref().map(|whole| whole.value),
        None => None,
    }
    .filter(|value| value.is_finite())
}

fn odds_of_run(row: &Row) -> Option<f64> {
    let kept: Vec<&Figure> = row.repeats.iter().filter(|f| f.aside.is_empty()).collect();
    odds(row.unit, &kept)
}

/// The odds of a share over several figures whose counts are known.
fn odds(unit: Unit, figures: &[&Figure]) -> Option<f64> {
    if unit != Unit::Share || figures.is_empty() {
        return None;
    }
    let mut sum = (0, 0);
    for figure in figures {
        let n = figure.n?;
        sum.0 += (figure.value * n as f64).round() as u64;
        sum.1 += n;
    }
    Some(logit(sum.0, sum.1).exp())
}
